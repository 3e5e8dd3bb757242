// Creates a folder in the user's cache once, however many runs need it at the same time.
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";

/**
 * The folder, which `make` fills if it is not complete. It is created under a temporary name and then renamed, so that
 * nobody ever sees it half-filled. If another run was faster, its folder stays, as it may be in use.
 */
export function madeOnce(
  folder: string,
  make: (making: string) => void,
  isWhole: () => boolean = () => existsSync(folder),
): string {
  if (isWhole()) return folder;
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  try {
    make(making);
    if (!isWhole()) {
      rmSync(folder, { recursive: true, force: true });
      renameSync(making, folder);
    }
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}
