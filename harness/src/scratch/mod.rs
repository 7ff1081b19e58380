//! Image, loop device and mount: made for one case, then gone.
