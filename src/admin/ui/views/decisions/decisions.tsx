import { Badge, Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { Route, Switch } from 'wouter';
import type { HoldGroup, OpenDecision } from '../../../../operations/holds/holds.ts';
import { consequenceText } from '../../../../provisioning/holds/hold-texts.ts';
import { DownloadButton } from '../../components/buttons.tsx';
import { Loaded } from '../../components/loading.tsx';
import { Time, ViewLink } from '../../components/text.tsx';
import { countText, sinceText } from '../../components/texts.ts';
import { ViewHead } from '../../components/view-head.tsx';
import { useIsAdmin } from '../../requests/session.ts';
import { ConfirmDecision, type PlannedDecision } from './decision.tsx';
import { HeldGroup } from './group.tsx';
import { DecisionView, OpenDecisions, type Outcome, OutcomeAlert } from './progress.tsx';
import { useHolds } from './query.ts';
import { causeNames } from './texts.ts';

/** The view of the changes that wait for the decision of an admin. */
export function DecisionsView() {
  const holds = useHolds();
  const [planned, setPlanned] = useState<PlannedDecision>();
  const [outcome, setOutcome] = useState<Outcome>();
  const plan = (decision: PlannedDecision) => {
    setOutcome(undefined);
    setPlanned(decision);
  };
  return (
    <>
      {outcome !== undefined && <OutcomeAlert outcome={outcome} onClose={() => setOutcome(undefined)} />}
      <Loaded query={holds}>
        {({ groups, decisions }) => (
          <Switch>
            <Route path="/made/:connection/:decision">{(address) => <DecisionView {...address} />}</Route>
            <Route path="/:connection/:cause">
              {(address) => <HeldGroup address={address} groups={groups} onDecide={plan} />}
            </Route>
            <Route>
              <Groups groups={groups} decisions={decisions} onDecide={plan} />
            </Route>
          </Switch>
        )}
      </Loaded>
      {planned && (
        <ConfirmDecision planned={planned} onClose={() => setPlanned(undefined)} onDecided={setOutcome} />
      )}
    </>
  );
}

interface GroupsProps {
  groups: HoldGroup[];
  decisions: OpenDecision[];
  onDecide: (planned: PlannedDecision) => void;
}

function Groups({ groups, decisions, onDecide }: GroupsProps) {
  return (
    <>
      <ViewHead
        title="Decisions"
        actions={groups.length > 0 && <DownloadButton operation="downloadHeldPeople" input={{}} />}
      >
        Changes that would do harm if they were a mistake wait here for an admin.
      </ViewHead>
      <OpenDecisions decisions={decisions} />
      {groups.length === 0 && <NothingHeld />}
      <Stack>
        {groups.map((group) => (
          <GroupCard key={`${group.connection} ${group.cause}`} group={group} onDecide={onDecide} />
        ))}
      </Stack>
    </>
  );
}

function GroupCard({ group, onDecide }: { group: HoldGroup; onDecide: (planned: PlannedDecision) => void }) {
  const { connection, cause, since, why, causedBy, examples, effects } = group;
  const people = countText(group.people, 'person', 'people');
  const address = `/${encodeURIComponent(connection)}/${cause}`;
  const canOpen = examples.length > 0;
  return (
    <Card withBorder component="section" aria-label={`${causeNames[cause]}, ${connection}`}>
      <Group justify="space-between" align="flex-start">
        <div style={{ flex: '1 1 320px', maxWidth: 640 }}>
          <Group gap="xs">
            <Title order={2} size="h5">
              {causeNames[cause]}, {connection}
            </Title>
            <Badge variant="filled" color="yellow" autoContrast tt="none">
              ! {people}
            </Badge>
          </Group>
          <Text>
            Held since <Time at={since} format={sinceText} />: {why}.
          </Text>
          <Text c="dimmed">
            Caused by {causedBy}. If approved: {consequenceText('approved', { effects })}
          </Text>
          {canOpen && (
            <Text mt={4}>
              {examples.map(({ userName }) => userName).join(', ')}{' '}
              <ViewLink href={address} isInText>
                {group.people === 1 ? 'Show details' : `Choose among ${people}`}
              </ViewLink>
            </Text>
          )}
        </div>
        <DecideButtons
          label={group.people === 1 ? people : `all ${people}`}
          onDecide={(answer) => onDecide({ answer, group })}
        />
      </Group>
    </Card>
  );
}

/** The two buttons that ask for a confirmation. A viewer has none. */
export function DecideButtons({
  label,
  onDecide,
}: {
  label: string;
  onDecide: (answer: 'approved' | 'discarded') => void;
}) {
  if (!useIsAdmin()) return null;
  return (
    <Group gap="xs">
      <Button variant="filled" aria-haspopup="dialog" onClick={() => onDecide('approved')}>
        Approve {label}…
      </Button>
      <Button aria-haspopup="dialog" onClick={() => onDecide('discarded')}>
        Discard {label}…
      </Button>
    </Group>
  );
}

function NothingHeld() {
  return (
    <Stack gap="xs" maw={720}>
      <Text size="md">Nothing is held. Changes that would appear here:</Text>
      <Text>
        <b>Safety valve:</b> when more people leave at once than the settings allow, such as after a wrong
        filter in the identity provider, the first are archived and the others wait. The limit is{' '}
        <code>safetyValve</code> in the settings file.
      </Text>
      <Text>
        <b>Administrators:</b> a traveler who administers the travel service by a role that the mapping did
        not give is guarded: it is neither archived, deleted nor linked without an admin's approval.
      </Text>
      <Text>
        <b>People who return:</b> somebody takes the name or address of a person who left, under another
        externalId. It may be somebody else.
      </Text>
    </Stack>
  );
}
