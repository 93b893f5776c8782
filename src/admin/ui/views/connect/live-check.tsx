import { Alert, Code, Paper, Text, Title, VisuallyHidden } from '@mantine/core';
import type { Attempt } from '../../../contract/connect.ts';
import { type Column, Rows } from '../../components/rows.tsx';
import { Breakable } from '../../components/text.tsx';
import { useRead } from '../../queries.ts';
import { ageText, answerText, isSuccess, isTokenRequest } from './attempts.ts';
import type { Method } from './providers.ts';

const POLL_MS = 2_000;

/** Shows the calls of the identity provider as they arrive, also refused ones. */
export function LiveCheck({
  connection,
  caller,
  method,
}: {
  connection: string;
  caller: string;
  method: Method;
}) {
  const { data, error, dataUpdatedAt } = useRead(
    'listRecentAttempts',
    { connection },
    { refetchInterval: POLL_MS },
  );
  const newest = data?.attempts[0];
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
        <Text c="red" size="sm" role="alert">
          {error.message}
        </Text>
      )}
      {data?.isLogged === false && (
        <Alert color="yellow">
          Calls cannot be shown: the settings switch the log of exchanges off (requestLog.keepDays is 0).
        </Alert>
      )}
      <VisuallyHidden role="status">
        {newest ? `The newest call was answered ${answerText(newest)}.` : ''}
      </VisuallyHidden>
      {data?.isLogged && !newest && <Waiting caller={caller} method={method} />}
      {newest && <Newest attempt={newest} caller={caller} now={dataUpdatedAt} />}
      {data && data.attempts.length > 1 && (
        <Rows
          label="Earlier calls"
          rows={data.attempts.slice(1, 6)}
          keyOf={({ id }) => id}
          columns={columnsAt(dataUpdatedAt)}
          empty=""
        />
      )}
    </Paper>
  );
}

function Waiting({ caller, method }: { caller: string; method: Method }) {
  return (
    <>
      <Text>Waiting for {caller === 'the identity provider' ? 'the' : `${caller}’s`} test call…</Text>
      <Text size="sm" c="dimmed">
        It appears here within seconds, also if its {method === 'client' ? 'client' : 'token'} is refused.
        Nothing arrives: the URL is wrong, or this service cannot be reached from there.
      </Text>
    </>
  );
}

function Newest({ attempt, caller, now }: { attempt: Attempt; caller: string; now: number }) {
  const isGood = isSuccess(attempt);
  return (
    <Alert
      color={isGood ? 'green' : 'red'}
      mb="xs"
      title={`${isGood ? '✓' : '✗'} Arrived ${ageText(attempt.at, now)} ago: ${answerText(attempt)}`}
    >
      <Code style={{ overflowWrap: 'anywhere' }}>
        <Breakable text={`${attempt.method} ${attempt.path}`} />
      </Code>
      {attempt.status === 401 && (
        <Text size="sm" mt="xs">
          {isTokenRequest(attempt)
            ? `Create an OAuth client here, and paste its id and its secret in ${caller}.`
            : `Create a token here, and paste it in ${caller} without “Bearer”.`}
        </Text>
      )}
    </Alert>
  );
}

function columnsAt(now: number): Column<Attempt>[] {
  return [
    { label: 'Arrived', cell: ({ at }) => `${ageText(at, now)} ago` },
    {
      label: 'Answer',
      cell: (attempt) => `${isSuccess(attempt) ? '✓' : '✗'} ${answerText(attempt)}`,
    },
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
