import { useDebouncedValue, useLocalStorage } from '@mantine/hooks';
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { ListedMappingFault } from '../../../../../operations/mappings/mapping-changes.ts';
import { parseObject } from '../../../components/texts.ts';
import { useRead } from '../../../requests/queries.ts';

/** Unsaved text, and the version in force when the editing began. It survives a reload and the end of a session. */
interface Draft {
  text: string;
  generation: number;
}

/** The draft of a connection, and a function that replaces or removes it. */
export function useDraft(connection: string): [Draft | undefined, (draft: Draft | undefined) => void] {
  const [draft, store, remove] = useLocalStorage({
    key: `jetbridge.mapping.${connection}`,
    deserialize: parseDraft,
    // Another tab has its own text.
    sync: false,
    getInitialValueInEffect: false,
  });
  return [draft, (next) => (next ? store(next) : remove())];
}

function parseDraft(stored = ''): Draft | undefined {
  const { text, generation } = parseObject(stored) ?? {};
  return typeof text === 'string' && typeof generation === 'number' ? { text, generation } : undefined;
}

/** A fault or a warning, to be shown at its place. */
export interface MarkedFault extends ListedMappingFault {
  severity: 'error' | 'warning';
}

/** The faults of the text, a moment after the last key stroke. */
export function useFaults(connection: string, text: string) {
  const [shown] = useDebouncedValue(text, 300);
  const { data, isPlaceholderData } = useRead(
    'checkMapping',
    { connection, text: shown },
    { placeholderData: keepPreviousData, gcTime: 30_000 },
  );
  const faults = useMemo(
    (): MarkedFault[] => [
      ...(data?.faults ?? []).map((fault) => ({ ...fault, severity: 'error' as const })),
      ...(data?.warnings ?? []).map((fault) => ({ ...fault, severity: 'warning' as const })),
    ],
    [data],
  );
  const isChecked = data !== undefined && !isPlaceholderData && shown === text;
  return { faults, isChecked, unchecked: data?.unchecked };
}
