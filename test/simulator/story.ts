/** The story of a history: one readable line for each event, with the virtual time. */
export interface Story {
  /** Tells an event. */
  tell(text: string): void;
  /** Tells an error that a process has logged. */
  error(name: string, fields: object, message: string): void;
  /** Notes a port call; it is part of the transcript only. */
  port(name: string, port: string): void;
  lines(): string[];
  /** The errors that processes have logged. */
  errors(): string[];
  /** Everything that happened, port calls included. Empty unless it was asked for. */
  transcript(): string[];
}

/** Begins a story. With `isDetailed` it keeps a transcript of every port call. */
export function newStory(now: () => number, isDetailed: boolean): Story {
  const lines: string[] = [];
  const transcript: string[] = [];
  const errors: string[] = [];
  const at = () => new Date(now()).toISOString().slice(8, 23).replace('T', ' ');
  const tell = (text: string) => {
    const line = `${at()}  ${text}`;
    lines.push(line);
    if (isDetailed) transcript.push(line);
  };
  return {
    tell,
    error: (name, fields, message) => {
      const { err, id } = fields as { err?: unknown; id?: string };
      const reason = err ? `: ${err instanceof Error ? err.stack : String(err)}` : '';
      errors.push(`${message}${reason}`);
      tell(`${name} logs: ${message}${id ? ` (${id})` : ''}${reason}`);
    },
    port: (name, port) => {
      if (isDetailed) transcript.push(`${at()}    ${name} ${port}`);
    },
    lines: () => lines,
    errors: () => errors,
    transcript: () => transcript,
  };
}
