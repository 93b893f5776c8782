import { Button, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { ListedProposedRules } from '../../../../../operations/mappings/mappings.ts';
import { Confirm } from '../../../components/dialogs.tsx';
import { Failure } from '../../../components/loading.tsx';
import { Dim, Time, ViewLink } from '../../../components/text.tsx';
import { sinceText } from '../../../components/texts.ts';
import { call } from '../../../requests/api.ts';
import { useRead } from '../../../requests/queries.ts';
import { useIsAdmin } from '../../../requests/session.ts';
import { EffectLine } from './effect.tsx';
import { Difference, originOf } from './versions.tsx';

/** The interval at which it is read whether rules are proposed, in milliseconds. */
const READ_EVERY_MS = 10_000;

interface ProposedProps {
  connection: string;
  onPerson: (id: string) => void;
}

function useProposed(connection: string) {
  return useRead('readProposedMapping', { connection }, { refetchInterval: READ_EVERY_MS }).data?.proposed;
}

/** Leads to the decision about the rules that wait beside those in force. */
export function ProposedNotice({ connection }: Pick<ProposedProps, 'connection'>) {
  if (!useProposed(connection)) return null;
  return (
    <Paper className="note" withBorder mb="md" role="status">
      <Text>
        Other rules are proposed and wait for an admin.{' '}
        <ViewLink href="~/admin/decisions" isInText>
          Decide
        </ViewLink>
      </Text>
    </Paper>
  );
}

/** The rules that wait beside those in force, with their whole effect, and the two decisions about them. */
export function ProposedPanel({ connection, onPerson }: ProposedProps) {
  const proposed = useProposed(connection);
  return proposed ? <Proposed key={proposed.digest} {...{ connection, onPerson, proposed }} /> : null;
}

function Proposed({ connection, proposed, onPerson }: ProposedProps & { proposed: ListedProposedRules }) {
  const { digest, since, state, difference, collection } = proposed;
  const [answer, setAnswer] = useState<'accepted' | 'discarded'>();
  const [isDecided, setDecided] = useState(false);
  // Once these rules are decided about, their effect can no longer be read.
  const isOpen = answer === undefined && !isDecided;
  const effect = useRead(
    'previewMapping',
    { connection, proposed: digest, examples: 20 },
    { enabled: isOpen },
  );
  const canChange = useIsAdmin();
  const isMapping = [difference.addedRules, difference.removedRules, difference.members].some(
    ({ length }) => length > 0,
  );
  return (
    <section aria-label="Proposed rules">
      <Group justify="space-between" align="flex-start" mb="xs">
        <Title order={2} size="h5">
          Proposed rules <Dim>· {connection}</Dim>
        </Title>
        {canChange && (
          <Group gap="xs">
            <Button
              variant="filled"
              aria-haspopup="dialog"
              disabled={!effect.data}
              onClick={() => setAnswer('accepted')}
            >
              Accept…
            </Button>
            <Button aria-haspopup="dialog" onClick={() => setAnswer('discarded')}>
              Discard…
            </Button>
          </Group>
        )}
      </Group>
      <Stack gap="xs">
        <Text c="dimmed">
          Since <Time at={since} format={sinceText} />, by {originOf(proposed)}. The rules in force stay so
          for everybody{' '}
          {state === 'counting'
            ? 'while the people whom these would change are counted.'
            : 'until an admin decides.'}
        </Text>
        {isMapping && <Difference connection={connection} difference={difference} />}
        {collection && (
          <>
            <Text fw={500}>Rules of the travel service</Text>
            <Difference connection={connection} difference={{ ...collection, members: [] }} />
          </>
        )}
        <Failure error={effect.error} title="The effect cannot be computed" />
        {effect.data && (
          <EffectLine preview={effect.data} isReading={effect.isFetching} onPerson={onPerson} />
        )}
      </Stack>
      {answer && (
        <Decide
          {...{ connection, digest, answer }}
          onClose={() => setAnswer(undefined)}
          onDone={() => {
            setDecided(true);
            setAnswer(undefined);
          }}
        />
      )}
    </section>
  );
}

interface DecideProps {
  connection: string;
  digest: string;
  answer: 'accepted' | 'discarded';
  onClose: () => void;
  onDone: () => void;
}

function Decide({ connection, digest, answer, onClose, onDone }: DecideProps) {
  const isAccepted = answer === 'accepted';
  return (
    <Confirm
      title={
        isAccepted ? `Put the proposed rules in force for ${connection}?` : 'Discard the proposed rules?'
      }
      action={isAccepted ? 'Accept' : 'Discard'}
      change={() => call('decideProposedMapping', { connection, digest, answer })}
      isDestructive={isAccepted}
      onClose={onClose}
      onDone={onDone}
    >
      <Text>
        {isAccepted
          ? 'Everybody is translated with them, and the calls are sent.'
          : 'The rules in force stay so. A file or the travel service proposes others once its content changes.'}
      </Text>
    </Confirm>
  );
}
