import { Alert, List, Text } from '@mantine/core';
import type { OpenDecision } from '../../../../operations/holds/holds.ts';
import { progressText } from '../../../../provisioning/holds/hold-texts.ts';
import { PagedRows } from '../../components/rows.tsx';
import { personHref, Section, ViewLink } from '../../components/text.tsx';
import { ViewHead } from '../../components/view-head.tsx';
import { usePages, useRead } from '../../requests/queries.ts';
import { stateFilters } from '../people/texts.ts';
import { causeNames } from './texts.ts';

/** The interval at which the progress of a decision is read, in milliseconds. */
const READ_EVERY_MS = 2_000;

/** The result of a decision of this admin. */
export interface Outcome {
  text: string;
  connection: string;
  decision: number;
}

/** Says what a decision has done, and how far it is carried out. */
export function OutcomeAlert({ outcome, onClose }: { outcome: Outcome; onClose: () => void }) {
  const { text, connection, decision } = outcome;
  return (
    <Alert color="gray" role="status" mb="md" withCloseButton onClose={onClose}>
      ✓ {text} <Progress connection={connection} decision={decision} />
    </Alert>
  );
}

function Progress({ connection, decision }: { connection: string; decision: number }) {
  const { data } = useRead(
    'readDecision',
    { connection, decision: String(decision), limit: 1 },
    { refetchInterval: (query) => (query.state.data?.left === 0 ? false : READ_EVERY_MS) },
  );
  if (!data) return null;
  return (
    <>
      {progressText(data)} <DecisionLink connection={connection} decision={decision} />
    </>
  );
}

/** Leads to the people of a decision. */
function DecisionLink({ connection, decision }: Pick<OpenDecision, 'connection' | 'decision'>) {
  return (
    <ViewLink href={`/made/${encodeURIComponent(connection)}/${decision}`} isInText>
      Show the people
    </ViewLink>
  );
}

/** The decisions that are being carried out. */
export function OpenDecisions({ decisions }: { decisions: OpenDecision[] }) {
  if (decisions.length === 0) return null;
  return (
    <Section title="Being carried out">
      <List size="sm" mb="md">
        {decisions.map((one) => (
          <List.Item key={`${one.connection} ${one.decision}`}>
            {causeNames[one.cause]}, {one.connection}: {one.answer} by {one.by}. {progressText(one)}{' '}
            <DecisionLink {...one} />
          </List.Item>
        ))}
      </List>
    </Section>
  );
}

/** The people of a decision, and how far it is carried out. */
export function DecisionView({ connection, decision }: { connection: string; decision: string }) {
  const pages = usePages(
    'readDecision',
    { connection, decision, limit: 200 },
    { refetchInterval: READ_EVERY_MS * 5 },
  );
  const [first] = pages.data?.pages ?? [];
  return (
    <>
      <ViewHead title={`Decision, ${connection}`} back={{ href: '/', label: 'Decisions' }}>
        The people whom the decision was about, unless a later one has replaced it.
      </ViewHead>
      {first && <Text mb="xs">{progressText(first)}</Text>}
      <PagedRows
        query={pages}
        rowsOf={({ listed }) => listed}
        older="Show more people"
        label="People of the decision"
        empty="Nobody has this decision as the last one."
        columns={[
          {
            label: 'Person',
            cell: ({ id, userName }) => <ViewLink href={personHref(connection, id)}>{userName}</ViewLink>,
          },
          { label: 'State', cell: ({ state }) => stateFilters[state] },
        ]}
      />
    </>
  );
}
