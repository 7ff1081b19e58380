//! The image of a file system at one moment.

use rustix::fs::{FallocateFlags, fallocate};

use crate::error::{Cannot, Error, Result};
use crate::scratch::{Image, Scratch};
use crate::sys::errno;

/// A copy of the image of a file system; dropping it gives its space back.
#[derive(Debug)]
pub struct Snapshot(Image);

impl Snapshot {
    pub(super) fn of(made: &Scratch) -> Result<Self> {
        let image = image_of(made)?;
        let copy = image.beside()?;
        image.copy_data_to(&copy)?;
        Ok(Self(copy))
    }

    pub(super) fn put_back(&self, made: &Scratch) -> Result<()> {
        let image = image_of(made)?;
        if image.size() != self.0.size() {
            return Err(Error::usage(format!(
                "restore an image of {} from one of {}",
                image.size(),
                self.0.size()
            )));
        }
        let all = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(image, all, 0, image.size().0).map_err(errno).cannot(|| "empty the image".into())?;
        self.0.copy_data_to(image)
    }
}

fn image_of(made: &Scratch) -> Result<&Image> {
    made.image().ok_or_else(|| Error::new("copy an image where there is none"))
}
