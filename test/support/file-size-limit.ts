import { execFileSync } from 'node:child_process';

const UNLIMITED = 'unlimited';

/**
 * Limits the size to which a running process may write files, as a full disk would: beyond it every write fails (EFBIG;
 * Node ignores the signal SIGXFSZ). With 0 no file takes a byte. Pipes and sockets are not concerned.
 */
export function limitFileSize(pid: number, bytes: number | typeof UNLIMITED): void {
  try {
    // The soft limit only: the process may be given back what it had.
    execFileSync('prlimit', [`--pid=${pid}`, `--fsize=${bytes}:${UNLIMITED}`]);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    const soft = bytes === UNLIMITED ? 'r.RLIM_INFINITY' : bytes;
    const python = `import resource as r; r.prlimit(${pid}, r.RLIMIT_FSIZE, (${soft}, r.RLIM_INFINITY))`;
    execFileSync('python3', ['-c', python]);
  }
}
