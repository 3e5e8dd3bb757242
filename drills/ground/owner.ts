// Finds the processes that own the clients' ends of connections on this machine. Linux only: it reads /proc.
import { readFileSync, readdirSync, readlinkSync } from "node:fs";

/** A connection by its ports on 127.0.0.1: the client's, and the one that it connected to. */
export interface Ports {
  readonly sourcePort: number;
  readonly targetPort: number;
}

/** Throws where connections cannot be attributed to processes. */
export function requireProc(): void {
  if (process.platform !== "linux")
    throw new Error("this drill needs Linux: it reads /proc to tell which process opened a connection");
}

/**
 * The process, out of `pids`, that opened each connection; undefined where the connection is gone or belongs to another
 * process. Many at once cost as much as one: the kernel walks all of its sockets.
 */
export function ownersOf(connections: readonly Ports[], pids: Iterable<number>): (number | undefined)[] {
  const inodes = socketInodes();
  const wanted = connections.map(({ sourcePort, targetPort }) => inodes.get(`${hex(sourcePort)} ${hex(targetPort)}`));
  const due = new Set(wanted.filter((inode) => inode !== undefined));
  const owners = new Map<string, number>();
  for (const pid of pids) {
    for (const inode of heldBy(pid)) if (due.delete(inode)) owners.set(inode, pid);
    if (due.size === 0) break;
  }
  return wanted.map((inode) => (inode === undefined ? undefined : owners.get(inode)));
}

/** The inode of every TCP socket, by its own port and the other one. */
function socketInodes(): Map<string, string> {
  const inodes = new Map<string, string>();
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of readFileSync(table, "latin1").split("\n")) {
      // Columns: sl, local_address, rem_address, st, queues, timers, retransmits, uid, timeout, inode.
      const [, local = "", remote = "", , , , , , , inode = "0"] = line.trim().split(/\s+/);
      // A socket that its process has closed has the inode 0.
      if (inode !== "0") inodes.set(`${local.slice(-4)} ${remote.slice(-4)}`, inode);
    }
  }
  return inodes;
}

function hex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}

/** The inodes of the sockets that a process holds; none where it has ended. */
function* heldBy(pid: number): Generator<string> {
  let descriptors: string[] = [];
  try {
    descriptors = readdirSync(`/proc/${pid}/fd`);
  } catch {
    return;
  }
  for (const descriptor of descriptors) {
    const inode = /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${descriptor}`))?.[1];
    if (inode !== undefined) yield inode;
  }
}

/** Empty where the descriptor was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
