import { Group, Loader, SimpleGrid, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { Loaded } from '../../components/loading.tsx';
import { ViewLink } from '../../components/text.tsx';
import { countText, findingLabel, numberText, toChoices, withLocalTimes } from '../../components/texts.ts';
import { HelpLink } from '../../components/view-head.tsx';
import { stateFilters } from '../people/texts.ts';
import { ActivityPanel } from './activity.tsx';
import { Conditions, ConnectionCard } from './conditions.tsx';
import { DemoDayNotice, FirstSteps } from './demo-day.tsx';
import { Panel } from './panel.tsx';
import { type Overview, stateMarks, useOverview } from './state.ts';

/** The view Overview: one sentence, what needs attention with its next step, and what the connections have done. */
export function OverviewView() {
  const overview = useOverview();
  useDocumentTitle('Overview · Jetbridge');
  return (
    <Loaded query={overview}>
      {(data) => (
        <Stack gap="md">
          <StateSentence {...data} />
          <Conditions conditions={data.conditions} sentence={data.sentence} />
          <DemoDayNotice demoDay={data.demoDay} />
          {data.steps && <FirstSteps steps={data.steps} demoDay={data.demoDay} />}
          <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
            <PeopleNumbers people={data.people} keptActive={data.keptActive} />
            <Findings findings={data.findings} />
            <ActivityPanel />
            {usedFirst(data.connections).map((connection) => (
              <ConnectionCard key={connection.id} connection={connection} />
            ))}
          </SimpleGrid>
        </Stack>
      )}
    </Loaded>
  );
}

/** Connections that have had requests of an identity provider come before the others. */
function usedFirst(connections: Overview['connections']) {
  const rank = ({ lastRequest }: Overview['connections'][number]) => (lastRequest ? 0 : 1);
  return connections.toSorted((one, other) => rank(one) - rank(other));
}

/** The sentence is the heading of the view. A screen reader reads it again when it changes. */
function StateSentence({ state, sentence }: Overview) {
  const { symbol, color, label } = stateMarks[state];
  const isQuiet = state === 'inStep' || state === 'empty';
  return (
    <Group gap="sm" wrap="nowrap" align="flex-start">
      {!isQuiet && (
        <ThemeIcon color={color} variant="light" radius="xl" size={28} aria-label={label} role="img">
          {state === 'working' ? <Loader size={14} color={color} aria-hidden /> : symbol}
        </ThemeIcon>
      )}
      <Title order={1} fz={{ base: 'lg', sm: 22 }} fw={600} aria-live="polite" style={{ flex: 1 }}>
        {withLocalTimes(sentence, Date.now())}
      </Title>
      <HelpLink />
    </Group>
  );
}

function PeopleNumbers({ people, keptActive }: Pick<Overview, 'people' | 'keptActive'>) {
  const all = people.total + people.unmanaged;
  if (all === 0) return null;
  return (
    <Panel title="People" action={<ViewLink href="~/admin/people">All {numberText(all)}</ViewLink>}>
      {toChoices(stateFilters).map(({ value, label }) => (
        <NumberRow key={value} label={label} count={people[value]} to={`/people?state=${value}`} />
      ))}
      <NumberRow label="kept active by an admin" count={keptActive} to="/people?finding=keptActive" />
    </Panel>
  );
}

/** The number of kinds of findings that are listed. */
const MAX_KINDS = 6;

function Findings({ findings: { kinds, isCut } }: { findings: Overview['findings'] }) {
  if (kinds.length === 0) return null;
  return (
    <Panel title="Findings" action={<ViewLink href="~/admin/people/findings">By value</ViewLink>}>
      {kinds.slice(0, MAX_KINDS).map(({ code, people }) => (
        <NumberRow
          key={code}
          label={findingLabel(code)}
          count={people}
          isAtLeast={isCut}
          to={`/people/findings?finding=${encodeURIComponent(code)}`}
        />
      ))}
      {kinds.length > MAX_KINDS && (
        <Text c="dimmed">and {countText(kinds.length - MAX_KINDS, 'other kind')}</Text>
      )}
    </Panel>
  );
}

interface NumberRowProps {
  label: string;
  count: number;
  to: string;
  isAtLeast?: boolean;
}

/** A number that links to what it counts; nothing if there is nothing to count. */
function NumberRow({ label, count, to, isAtLeast = false }: NumberRowProps) {
  if (count === 0) return null;
  return (
    <Group justify="space-between" wrap="nowrap" gap="xs">
      <Text>{label}</Text>
      <ViewLink href={`~/admin${to}`}>
        {isAtLeast && '≥ '}
        {numberText(count)}
      </ViewLink>
    </Group>
  );
}
