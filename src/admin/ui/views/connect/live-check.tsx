import { Alert, Paper, Text, Title, VisuallyHidden } from '@mantine/core';
import { useState } from 'react';
import type { Attempt } from '../../../../operations/connections/connections.ts';
import { type Column, Rows } from '../../components/rows.tsx';
import { Breakable, PathCode, personHref, ViewLink } from '../../components/text.tsx';
import { useRead } from '../../requests/queries.ts';
import { ageText, answerText, firstPersonOf, isSuccess, isTokenRequest } from './attempts.ts';
import type { Method } from './providers.ts';

const POLL_MS = 2_000;

/**
 * Reads the calls that have arrived since the wizard was opened: earlier ones are no result of what the admin does now. The first person
 * stays known when later calls follow.
 */
function useNewAttempts(connection: string) {
  const { data, error, dataUpdatedAt } = useRead(
    'listRecentAttempts',
    { connection },
    // Without the calls that an earlier opening of the wizard has read.
    { refetchInterval: POLL_MS, gcTime: 0 },
  );
  const [earlier, setEarlier] = useState<readonly string[]>();
  const [person, setPerson] = useState<string>();
  if (data && !earlier) setEarlier(data.attempts.map(({ id }) => id));
  const attempts = earlier ? (data?.attempts ?? []).filter(({ id }) => !earlier.includes(id)) : [];
  const first = firstPersonOf(attempts);
  if (person === undefined && first !== undefined) setPerson(first);
  return { isLogged: data?.isLogged, attempts, person, error, dataUpdatedAt };
}

interface LiveCheckProps {
  connection: string;
  caller: string;
  method: Method;
}

/** Shows the calls of the identity provider as they arrive, also refused ones, and the first person at the end. */
export function LiveCheck({ connection, caller, method }: LiveCheckProps) {
  const { isLogged, attempts, person, error, dataUpdatedAt } = useNewAttempts(connection);
  const [newest, ...earlier] = attempts;
  return (
    <Paper
      withBorder
      p="md"
      component="section"
      aria-label="Live check"
      style={{ position: 'sticky', top: 64 }}
    >
      <Title order={2} size="h5" mb="xs">
        Live check
      </Title>
      {error && (
        <Text c="red" role="alert">
          {error.message}
        </Text>
      )}
      {isLogged === false && (
        <Alert color="yellow">
          Calls cannot be shown: the settings switch the log of exchanges off (requestLog.keepDays is 0).
        </Alert>
      )}
      <VisuallyHidden role="status">
        {newest ? `The newest call was answered ${answerText(newest)}.` : ''}
      </VisuallyHidden>
      {isLogged && !newest && <Waiting caller={caller} method={method} />}
      {person !== undefined && <Done {...{ connection, person }} />}
      {newest && <Newest attempt={newest} now={dataUpdatedAt} {...{ caller, method }} />}
      {newest && isSuccess(newest) && person === undefined && (
        <Text mb="xs">
          The connection works. It is done when the first person has arrived: assign somebody in {caller}.
        </Text>
      )}
      {earlier.length > 0 && (
        <Rows label="Earlier calls" rows={earlier.slice(0, 5)} columns={columnsAt(dataUpdatedAt)} />
      )}
    </Paper>
  );
}

/** The end of the wizard. */
function Done({ connection, person }: { connection: string; person: string }) {
  const { data } = useRead('explainPerson', { connection, id: person });
  return (
    <Alert color="gray" mb="xs" role="status" title={`✓ Done: people arrive in ${connection}`}>
      The first one is{' '}
      <ViewLink href={personHref(connection, person)} isInText>
        {data ? data.name || data.userName : person}
      </ViewLink>
      .
    </Alert>
  );
}

function Waiting({ caller, method }: { caller: string; method: Method }) {
  return (
    <>
      <Text size="md">
        Waiting for {caller === 'the identity provider' ? 'the' : `${caller}’s`} test call…
      </Text>
      <Text c="dimmed">
        It appears here within seconds, also if its {method === 'token' ? 'token' : 'client'} is refused.
        Nothing arrives: the URL is wrong, or this service cannot be reached from there.
      </Text>
    </>
  );
}

interface NewestProps extends Pick<LiveCheckProps, 'caller' | 'method'> {
  attempt: Attempt;
  now: number;
}

function Newest({ attempt, caller, method, now }: NewestProps) {
  const isGood = isSuccess(attempt);
  return (
    <Alert
      color={isGood ? 'green' : 'red'}
      mb="xs"
      title={`${isGood ? '✓' : '✗'} Arrived ${ageText(attempt.at, now)} ago: ${answerText(attempt)}`}
    >
      <PathCode text={`${attempt.method} ${attempt.path}`} />
      {attempt.status === 401 && <Text mt="xs">{remedyOf(attempt, method, caller)}</Text>}
    </Alert>
  );
}

/** Says what to do when a call is refused. */
function remedyOf(attempt: Attempt, method: Method, caller: string): string {
  if (!isTokenRequest(attempt)) return `Create a token here, and paste it in ${caller} without “Bearer”.`;
  if (method === 'federation')
    return 'If the values that came are those of your workload, enter them here in place of the expected ones.';
  return `Create an OAuth client here, and paste its id and its secret in ${caller}.`;
}

function columnsAt(now: number): Column<Attempt>[] {
  return [
    { label: 'Arrived', cell: ({ at }) => `${ageText(at, now)} ago` },
    { label: 'Answer', cell: (attempt) => `${isSuccess(attempt) ? '✓' : '✗'} ${answerText(attempt)}` },
    {
      label: 'Call',
      cell: ({ method, path }) => (
        <Text size="xs" ff="monospace" lineClamp={2} title={path}>
          <Breakable text={`${method} ${path}`} />
        </Text>
      ),
    },
  ];
}
