//! The inside of a virtual machine: this very program as its process 1.
