import { Anchor, Button, Drawer, Stack, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  ListedMappingDifference,
  ListedMappingVersion,
} from '../../../../../operations/mappings/mappings.ts';
import { useFocusReturn } from '../../../components/dialogs.tsx';
import { Loaded } from '../../../components/loading.tsx';
import { LoadedRows } from '../../../components/rows.tsx';
import { Breakable, Dim, Time } from '../../../components/text.tsx';
import { countText } from '../../../components/texts.ts';
import type { Result } from '../../../requests/api.ts';
import { useRead } from '../../../requests/queries.ts';
import { useIsAdmin } from '../../../requests/session.ts';
import { useFieldNames } from '../rules/field-names.ts';
import { ruleLine } from '../rules/rule-words.ts';

/** Returns the author of a version in words, or its source if no person put it in force. */
export function authorOf({ author, source }: Pick<ListedMappingVersion, 'source' | 'author'>): string {
  if (source === 'file') return `the mapping file${author === undefined ? '' : ` ${author}`}`;
  return author ?? (source === 'default' ? 'the first start' : 'an admin');
}

/** Returns the author with the place where the version was put in force. */
export function originOf(version: Pick<ListedMappingVersion, 'source' | 'author'>): string {
  const places = { page: ' on the admin page', command: ' on the command line', file: '', default: '' };
  return `${authorOf(version)}${places[version.source]}`;
}

interface VersionsProps {
  connection: string;
  /** The version whose change is shown at first. */
  first?: number | undefined;
  /** Without it the versions are shown only. */
  onRestore?: (version: number) => void;
  onClose: () => void;
}

/** The number of versions that are read at once. */
const PAGE = 20;
/** The most versions that one answer has: a link may lead to any of them. */
const MAX_VERSIONS = 200;

/** The history of a mapping: who changed what, and a way back. */
export function Versions({ connection, first, onRestore, onClose }: VersionsProps) {
  const canRestore = useIsAdmin() && onRestore !== undefined;
  useFocusReturn();
  const [open, setOpen] = useState(first);
  // Each version that is read is compared with the one before.
  const [limit, setLimit] = useState(first === undefined ? PAGE : MAX_VERSIONS);
  const versions = useRead(
    'listMappingVersions',
    { connection, limit },
    { placeholderData: keepPreviousData },
  );
  const restore = (number: number) => {
    onClose();
    onRestore?.(number);
  };
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="xl"
      title={`Versions of the mapping of ${connection}`}
    >
      <LoadedRows
        label="Versions"
        query={versions}
        rowsOf={(data) => data.versions.map((one, index) => ({ ...one, isInForce: index === 0 }))}
        keyOf={({ number }) => String(number)}
        empty="No mapping has been in force yet."
        columns={[
          { label: 'Version', cell: ({ number }) => number, width: '12%' },
          {
            label: 'When and who',
            cell: (version) => (
              <>
                <Time at={version.appliedAt} /> by {originOf(version)}
              </>
            ),
            width: '26%',
          },
          {
            label: 'What',
            cell: ({ number, changes }) => (
              <>
                <Anchor
                  component="button"
                  ta="left"
                  aria-expanded={open === number}
                  onClick={() => setOpen(open === number ? undefined : number)}
                >
                  {changesText(changes)}
                </Anchor>
                {open === number && <VersionDifference {...{ connection, number }} />}
              </>
            ),
            width: '44%',
          },
          {
            label: 'Restore',
            isAction: true,
            cell: ({ number, isInForce }) =>
              isInForce ? (
                <Dim>in force</Dim>
              ) : (
                canRestore && (
                  <Button
                    size="compact-sm"
                    aria-haspopup="dialog"
                    aria-label={`Restore version ${number}…`}
                    onClick={() => restore(number)}
                  >
                    Restore…
                  </Button>
                )
              ),
            width: '18%',
          },
        ]}
      />
      {versions.data?.versions.length === limit && limit < MAX_VERSIONS && (
        <Button mt="md" loading={versions.isFetching} onClick={() => setLimit(limit + PAGE)}>
          Show older versions
        </Button>
      )}
    </Drawer>
  );
}

/** What a version has changed, in a line. */
function changesText({
  addedRules,
  removedRules,
  members,
}: Result<'listMappingVersions'>['versions'][number]['changes']) {
  const parts = [
    ...(addedRules > 0 ? [`${countText(addedRules, 'rule')} added`] : []),
    ...(removedRules > 0 ? [`${countText(removedRules, 'rule')} removed`] : []),
    ...(members.length > 0 ? [`${members.join(', ')} changed`] : []),
  ];
  return parts.length > 0 ? parts.join(', ') : 'no rule changed';
}

function VersionDifference({ connection, number }: { connection: string; number: number }) {
  const version = useRead('readMappingVersion', { connection, version: String(number) });
  return (
    <Loaded query={version}>
      {({ difference }) => <Difference connection={connection} difference={difference} />}
    </Loaded>
  );
}

/** The differences between one version and the one before it, one in each line. */
export function Difference({
  connection,
  difference: { addedRules, removedRules, members },
}: {
  connection: string;
  difference: ListedMappingDifference;
}) {
  const names = useFieldNames(connection);
  const lines = [
    ...addedRules.map((rule) => `+ ${ruleLine(Object(rule), names)}`),
    ...removedRules.map((rule) => `− ${ruleLine(Object(rule), names)}`),
    ...members.map(
      ({ name, before, after }) => `${name}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`,
    ),
  ];
  if (lines.length === 0)
    return (
      <Text c="dimmed">It has the content of the version before, or the same rules in another order.</Text>
    );
  return (
    <Stack component="ul" gap={2} m={0} p={0} style={{ listStyle: 'none', overflowWrap: 'anywhere' }}>
      {lines.map((line) => (
        <Text key={line} component="li">
          <Breakable text={line} />
        </Text>
      ))}
    </Stack>
  );
}
