/** What a command works with. */
export interface Shell {
  environment: Record<string, string | undefined>;
  /** The program's own folder, with its config and demo. */
  home: string;
  /** Whether somebody watches standard error. */
  isTerminal: boolean;
  /** Asks and answers what was typed; only where somebody sits at a terminal. */
  ask?(question: string): Promise<string>;
  /** To standard output. */
  print(text: string): void;
  /** To standard error. */
  complain(text: string): void;
}
