import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { ConfirmButton } from '../../components/dialogs.tsx';
import { Failure, Loaded } from '../../components/loading.tsx';
import { StateBadge, ViewLink } from '../../components/text.tsx';
import { call, type Result } from '../../requests/api.ts';
import { useChange, useRead } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';
import { resourcesText } from './texts.ts';

type State = Result<'describeSampleData'>;

/** The sample company: a button that creates it, or one that removes it. */
export function SampleData() {
  const state = useRead('describeSampleData', {});
  return (
    <Stack maw={720}>
      <Loaded query={state}>{(data) => <SampleCompany {...data} />}</Loaded>
    </Stack>
  );
}

function SampleCompany({ company, domain, isPresent, users, trips }: State) {
  const canChange = useIsAdmin();
  const creation = useChange(() => call('createSampleData'));
  const [removal, setRemoval] = useState<string>();
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Text size="md" fw={600}>
          {company}
        </Text>
        <StateBadge mark={isPresent ? present : absent} />
      </Group>
      <Text>
        {company} is an invented company with {users} people and {trips} trips of thirteen months: travel
        policies, cost centers, bookings, cancellations, invoices, refunds. Its email addresses end with @
        {domain}, and nothing of anybody else is changed.
      </Text>
      <Failure error={creation.error} />
      {removal && (
        <Alert color="gray" role="status">
          {removal}
        </Alert>
      )}
      {isPresent ? (
        <>
          <Text>
            Look at its{' '}
            <ViewLink href="/trip-projects" isInText>
              trips
            </ViewLink>{' '}
            and{' '}
            <ViewLink href="/invoices" isInText>
              invoices
            </ViewLink>
            .
          </Text>
          {canChange && <RemoveButton {...{ company, domain }} onRemoved={setRemoval} />}
        </>
      ) : (
        canChange && (
          <Button
            variant="filled"
            w="fit-content"
            loading={creation.isPending}
            onClick={() => {
              setRemoval(undefined);
              creation.mutate();
            }}
          >
            Create {company}
          </Button>
        )
      )}
      {creation.isPending && (
        <Text c="dimmed" role="status">
          {company} is being created. That takes some seconds.
        </Text>
      )}
    </Stack>
  );
}

const present = { symbol: '✓', label: 'in the travel service', color: 'green' };
const absent = { symbol: '–', label: 'not there', color: 'gray' };

function RemoveButton({
  company,
  domain,
  onRemoved,
}: Pick<State, 'company' | 'domain'> & { onRemoved: (outcome: string) => void }) {
  return (
    <ConfirmButton
      label={`Remove ${company}…`}
      button={{ w: 'fit-content' }}
      title={`Remove ${company}?`}
      action={`Remove ${company}`}
      change={() => call('removeSampleData')}
      isDestructive
      onDone={({ removed, kept }) => {
        const rest =
          Object.keys(kept).length > 0 ? ` Others refer to ${resourcesText(kept)}, which stay.` : '';
        onRemoved(`✓ Removed ${resourcesText(removed)}.${rest}`);
      }}
    >
      <Text size="md">
        All travelers with an address at {domain} go, with their trips, invoices and API keys, and the
        company’s policies, cost centers and custom fields. This cannot be undone, but {company} can be
        created again.
      </Text>
    </ConfirmButton>
  );
}
