import { Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { pilotChangeText } from '../../../../provisioning/shadow/shadow-texts.ts';
import { Answers, Dialog, DialogButton } from '../../components/dialogs.tsx';
import { call, faultOf } from '../../requests/api.ts';
import { useChange, useRead } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';

/** The pilot of a connection in shadow mode. */
interface Pilot {
  connection: string;
  pilot: string | undefined;
}

/** The button that replaces the pilot. A viewer has none. */
export function PilotButton(props: Pilot) {
  if (!useIsAdmin()) return null;
  return <DialogButton label="Pilot…">{(close) => <PilotDialog {...props} onClose={close} />}</DialogButton>;
}

/** The form of another pilot, which says in numbers what it does. */
function PilotDialog({ connection, pilot = '', onClose }: Pilot & { onClose: () => void }) {
  const [typed, setTyped] = useState(pilot);
  const filter = typed.trim();
  const [settled] = useDebouncedValue(filter, 300);
  const input = { id: connection, ...(settled !== '' && { filter: settled }) };
  const preview = useRead('previewPilot', input, { staleTime: 0 });
  const change = useChange(() => call('changePilot', { id: connection, filter: filter || null }), {
    onDone: onClose,
  });
  const isKnown = settled === filter && preview.data !== undefined && !preview.isFetching;
  return (
    <Dialog onClose={onClose} title={`Pilot of ${connection}`} size="lg">
      <Stack>
        <Text>
          The people of the pilot are provisioned while all others are planned. Whoever enters it gets what is
          planned, and many departures at once wait for an admin. Whoever leaves it keeps the traveler as it
          is.
        </Text>
        <TextInput
          label="SCIM filter of these people"
          description={'For example groups[display eq "Pilot"]. Empty: nobody.'}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          error={settled === filter && faultOf(preview.error, 'filter')}
          data-autofocus
        />
        <Text role="status" mih="3em">
          {isKnown && pilotChangeText(preview.data)}
        </Text>
        <Answers
          action={filter === '' ? `End the pilot of ${connection}` : `Give ${connection} this pilot`}
          error={change.error}
          isPending={change.isPending}
          isDisabled={!isKnown || filter === pilot}
          {...{ onClose }}
          onConfirm={() => change.mutate()}
        />
      </Stack>
    </Dialog>
  );
}
