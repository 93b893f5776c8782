import { Text } from '@mantine/core';
import { call, type Input } from '../../api.ts';
import { Confirm } from '../../components/confirm.tsx';
import { Dialog, DialogButton } from '../../components/dialog.tsx';
import { Loaded } from '../../components/loading.tsx';
import { countText } from '../../components/texts.ts';
import { useRead } from '../../queries.ts';
import { useIsAdmin } from '../../session.ts';

type Filters = Input<'countSelectedPeople'>;

/** A button that reconciles everybody whom the filters select, after a confirmation that states their number. */
export function ReconcileSelectedButton({ filters }: { filters: Filters }) {
  if (!useIsAdmin()) return null;
  return (
    <DialogButton label="Reconcile these…">
      {(close) => <ReconcileDialog filters={filters} onClose={close} />}
    </DialogButton>
  );
}

function ReconcileDialog({ filters, onClose }: { filters: Filters; onClose: () => void }) {
  const selection = useRead('countSelectedPeople', filters, { staleTime: 0, gcTime: 0 });
  const { people = 0, isMore = false } = selection.data ?? {};
  const isTooMany = isMore || people > MAX_PEOPLE;
  if (people === 0 || isTooMany)
    return (
      <Dialog title="Reconcile these people?" onClose={onClose}>
        <Loaded query={selection}>
          {() => <Text size="sm">{isTooMany ? TOO_MANY : 'Nobody matches these filters.'}</Text>}
        </Loaded>
      </Dialog>
    );
  const who = countText(people, 'person', 'people');
  return (
    <Confirm
      title={`Reconcile ${who}?`}
      action={`Reconcile ${who}`}
      change={() => call('reconcilePeople', filters)}
      refreshes={['listPeople', 'countPeople']}
      result={{
        title: 'Attempts are made now',
        content: (done) => (
          <Text size="sm" role="status">
            {countText(done.people, 'person is', 'people are')} brought up to date now. The list shows who
            waits.
          </Text>
        ),
      }}
      onClose={onClose}
    >
      <Text size="sm">
        For each of them the rules are applied again, and what differs is sent to the travel service. Changes
        that must be held are held as always.
      </Text>
    </Confirm>
  );
}

/** The most people whom one request reconciles. */
const MAX_PEOPLE = 10_000;

const TOO_MANY =
  'More than 10,000 people match these filters, or too few of all to be found soon. Choose narrower ones, or use "npx jetbridge people reconcile".';
