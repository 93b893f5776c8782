import { Anchor, Badge, Button, Code, Drawer, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type {
  ListedMappingDifference,
  ListedMappingVersion,
} from '../../../../operations/mappings/mappings.ts';
import { useFocusReturn } from '../../components/dialogs.tsx';
import { Loaded } from '../../components/loading.tsx';
import { Rows } from '../../components/rows.tsx';
import { Time } from '../../components/text.tsx';
import { countText } from '../../components/texts.ts';
import { useRead } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';

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

type Restore = (version: number, text: string) => void;

interface VersionsProps {
  connection: string;
  /** The version whose change is shown at first. */
  first?: number | undefined;
  /** Without it the versions are shown only. */
  onRestore?: Restore;
  onClose: () => void;
}

/** The history of a mapping: who changed what, and a way back. */
export function Versions({ connection, first, onRestore, onClose }: VersionsProps) {
  const canRestore = useIsAdmin() && onRestore !== undefined;
  const restore: Restore = (version, text) => {
    onClose();
    onRestore?.(version, text);
  };
  useFocusReturn();
  const [open, setOpen] = useState(first);
  const versions = useRead('listMappingVersions', { connection, limit: 200 });
  return (
    <Drawer
      opened
      onClose={onClose}
      position="right"
      size="lg"
      title={`Versions of the mapping of ${connection}`}
    >
      <Loaded query={versions}>
        {(data) => (
          <Rows
            label="Versions"
            rows={data.versions}
            keyOf={({ number }) => String(number)}
            empty="No mapping has been in force yet."
            columns={[
              {
                label: 'Version',
                cell: ({ number }) => (
                  <Group gap="xs" wrap="nowrap">
                    <Anchor
                      component="button"
                      aria-expanded={open === number}
                      onClick={() => setOpen(open === number ? undefined : number)}
                    >
                      {number}
                    </Anchor>
                    {number === data.versions[0]?.number && (
                      <Badge variant="light" style={{ flexShrink: 0 }}>
                        in force
                      </Badge>
                    )}
                  </Group>
                ),
              },
              {
                label: 'Change',
                cell: (version) => (
                  <>
                    by {originOf(version)}, <Time at={version.appliedAt} /> ·{' '}
                    {countText(version.rules, 'rule')}
                    {open === version.number && (
                      <VersionDetails
                        {...{ connection, number: version.number }}
                        onRestore={canRestore && version !== data.versions[0] ? restore : undefined}
                      />
                    )}
                  </>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Drawer>
  );
}

interface VersionDetailsProps {
  connection: string;
  number: number;
  onRestore: Restore | undefined;
}

function VersionDetails({ connection, number, onRestore }: VersionDetailsProps) {
  const version = useRead('readMappingVersion', { connection, version: String(number) });
  return (
    <Loaded query={version}>
      {({ text, difference }) => (
        <Stack gap="xs" mt="xs">
          <Difference difference={difference} />
          {onRestore && (
            <Button aria-haspopup="dialog" onClick={() => onRestore(number, text)} w="fit-content">
              Restore version {number}…
            </Button>
          )}
        </Stack>
      )}
    </Loaded>
  );
}

/** The differences between one version and the one before it, one in each line. */
export function Difference({
  difference: { addedRules, removedRules, members },
}: {
  difference: ListedMappingDifference;
}) {
  const lines = [
    ...addedRules.map((rule) => `+ ${JSON.stringify(rule)}`),
    ...removedRules.map((rule) => `- ${JSON.stringify(rule)}`),
    ...members.map(
      ({ name, before, after }) => `${name}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`,
    ),
  ];
  if (lines.length === 0)
    return (
      <Text c="dimmed">It has the content of the version before, or the same rules in another order.</Text>
    );
  return (
    <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {lines.join('\n')}
    </Code>
  );
}
