import { Stack, Text, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import type { PersonExplanation } from '../../../../operations/people/person.ts';
import type { Exchange } from '../../../../operations/traffic/traffic.ts';
import { Dialog } from '../../components/dialogs.tsx';
import { Loaded } from '../../components/loading.tsx';
import { type Column, PagedRows } from '../../components/rows.tsx';
import { Breakable, LoggedBody, Time } from '../../components/text.tsx';
import { durationText } from '../../components/texts.ts';
import { usePages, useRead } from '../../requests/queries.ts';
import { answerText } from './texts.ts';

/** New exchanges are logged with a delay, so that the timeline is read again this often, in milliseconds. */
const REFRESH_MS = 10_000;

/** The requests of the identity provider about the person, and the calls for them, newest first. */
export function Timeline({ person: { connection, id } }: { person: PersonExplanation }) {
  const [opened, setOpened] = useState<Exchange>();
  const timeline = usePages(
    'listExchanges',
    { connection, person: id, limit: 20 },
    { cursor: 'before', refetchInterval: REFRESH_MS },
  );
  return (
    <>
      <PagedRows
        query={timeline}
        rowsOf={(page) => page.exchanges}
        older="Show older requests"
        label="Timeline"
        keyOf={({ position }) => position}
        columns={columnsWith(setOpened)}
        empty="The log of exchanges has nothing about this person. It keeps requests and travel calls for some days."
      />
      {opened && <Bodies exchange={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}

function columnsWith(onOpen: (exchange: Exchange) => void): Column<Exchange>[] {
  return [
    { label: 'When', width: '14%', cell: ({ at }) => <Time at={at} /> },
    {
      label: 'Who',
      width: '17%',
      cell: ({ direction }) => (direction === 'travel' ? '→ travel service' : '← identity provider'),
    },
    {
      label: 'Request',
      width: '44%',
      cell: (exchange) => (
        <UnstyledButton
          aria-haspopup="dialog"
          onClick={() => onOpen(exchange)}
          td="underline"
          style={{ textAlign: 'left' }}
        >
          <Text span ff="monospace" style={{ overflowWrap: 'anywhere' }}>
            <Breakable text={`${exchange.method} ${exchange.path}`} />
          </Text>
        </UnstyledButton>
      ),
    },
    { label: 'Answer', width: '15%', cell: answerText },
    { label: 'Duration', width: '10%', cell: ({ ms }) => durationText(ms) },
  ];
}

/** Both bodies of an exchange. */
function Bodies({ exchange, onClose }: { exchange: Exchange; onClose: () => void }) {
  const { position, method, path } = exchange;
  const detail = useRead('getExchange', { id: position });
  return (
    <Dialog onClose={onClose} size="xl" title={`${method} ${path}`}>
      <Loaded query={detail}>
        {({ request, response }) => (
          <Stack>
            <LoggedBody title="Request" body={request.body} />
            <LoggedBody title={`Response ${answerText(exchange)}`} body={response.body} />
          </Stack>
        )}
      </Loaded>
    </Dialog>
  );
}
