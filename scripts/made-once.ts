// Makes a folder of the user's cache once, however many runs want it at the same time.
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";

/**
 * The folder, which `make` fills where it is not whole. It is made next to its place and then moved there, so that
 * nobody ever sees half of it. Where another run was faster, its folder stays: it may be in use.
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
