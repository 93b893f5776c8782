import type { PathFault } from './expression.ts';

/** A filter or path that cannot be read; never leaves this room. */
export class SyntaxFault extends Error {
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.name = 'SyntaxFault';
    this.position = position;
  }
}

/** What reading gives, a syntax fault as a value. */
export function orFault<T>(read: () => T): T | PathFault {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxFault) return { fault: error.message, position: error.position };
    throw error;
  }
}
