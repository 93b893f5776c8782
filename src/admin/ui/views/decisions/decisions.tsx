import { Stack } from '@mantine/core';
import { useState } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import type { HoldGroup } from '../../../../operations/holds/holds.ts';
import { DownloadButton } from '../../components/buttons.tsx';
import { Loaded } from '../../components/loading.tsx';
import { personHref } from '../../components/text.tsx';
import { ViewHead } from '../../components/view-head.tsx';
import type { Result } from '../../requests/api.ts';
import { ProposedPanel } from '../mappings/changes/proposed.tsx';
import { ConfirmDecision, type PlannedDecision } from './decision.tsx';
import { HeldGroup } from './group.tsx';
import { DecisionView, OpenDecisions, type Outcome, OutcomeAlert } from './progress.tsx';
import { useHolds } from './query.ts';

/** The view of what waits for the decision of an admin: held changes of people, and proposed rules. */
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
        {(data) => (
          <Switch>
            <Route path="/made/:connection/:decision">{(address) => <DecisionView {...address} />}</Route>
            <Route path="/:connection/:cause">
              {(address) => <Waiting {...onlyAt(data, address)} onDecide={plan} isPart />}
            </Route>
            <Route>
              <Waiting {...data} onDecide={plan} />
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

type Holds = Pick<Result<'listHolds'>, 'groups' | 'decisions' | 'proposed'>;

/** The group that an address names, alone. */
function onlyAt({ groups }: Holds, address: { connection: string; cause: string }): Holds {
  const isNamed = ({ connection, cause }: HoldGroup) =>
    connection === address.connection && cause === address.cause;
  return { groups: groups.filter(isNamed), decisions: [], proposed: [] };
}

function Waiting({
  groups,
  decisions,
  proposed,
  isPart = false,
  onDecide,
}: Holds & { isPart?: boolean; onDecide: (planned: PlannedDecision) => void }) {
  const [, navigate] = useLocation();
  return (
    <>
      <ViewHead
        title="Decisions"
        {...(isPart && { back: { href: '/', label: 'All decisions' } })}
        actions={groups.length > 0 && <DownloadButton operation="downloadHeldPeople" input={{}} />}
      >
        {groups.length + proposed.length === 0
          ? 'Nothing waits for a decision. Changes that would do harm if they were a mistake wait here, such as many departures at once.'
          : 'Changes that would do harm if they were a mistake wait here for an admin.'}
      </ViewHead>
      <OpenDecisions decisions={decisions} />
      <Stack gap="xl">
        {proposed.map(({ connection }) => (
          <ProposedPanel
            key={connection}
            connection={connection}
            onPerson={(id) => navigate(personHref(connection, id))}
          />
        ))}
        {groups.map((group) => (
          <HeldGroup key={`${group.connection} ${group.cause}`} group={group} onDecide={onDecide} />
        ))}
      </Stack>
    </>
  );
}
