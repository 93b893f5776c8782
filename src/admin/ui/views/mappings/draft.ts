import { useCallback, useState } from 'react';

/** Unsaved text, and the version in force when the editing began. It survives a reload and the end of a session. */
export interface Draft {
  text: string;
  generation: number;
}

function keyOf(connection: string): string {
  return `jetbridge.mapping.${connection}`;
}

function readDraft(connection: string): Draft | undefined {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(connection)) ?? 'null');
    const { text, generation } = Object(stored);
    return typeof text === 'string' && typeof generation === 'number' ? { text, generation } : undefined;
  } catch {
    return undefined;
  }
}

/** A browser may refuse to store anything; the text is then kept until the page is left. */
function storeDraft(connection: string, draft: Draft | undefined): void {
  try {
    if (draft) localStorage.setItem(keyOf(connection), JSON.stringify(draft));
    else localStorage.removeItem(keyOf(connection));
  } catch {
    return;
  }
}

/** The draft of a connection, and a function that replaces or removes it. */
export function useDraft(connection: string): [Draft | undefined, (draft: Draft | undefined) => void] {
  const [draft, setDraft] = useState(() => readDraft(connection));
  const change = useCallback(
    (next: Draft | undefined) => {
      storeDraft(connection, next);
      setDraft(next);
    },
    [connection],
  );
  return [draft, change];
}
