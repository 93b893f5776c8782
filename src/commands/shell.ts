/** What a command works with. */
export interface Shell {
  environment: Record<string, string | undefined>;
  /** The program's own folder, with its config and demo. */
  home: string;
  /** Whether somebody watches standard error. */
  isTerminal: boolean;
  /** Asks whoever sits at the terminal, who answers with a line; undefined: nobody is there to be asked. */
  ask: ((question: string) => Promise<string>) | undefined;
  /** To standard output. */
  print(text: string): void;
  /** To standard error. */
  complain(text: string): void;
}
