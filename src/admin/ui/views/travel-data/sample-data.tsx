import { Alert, Button, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { ConfirmButton } from '../../components/dialogs.tsx';
import { Failure, Loaded } from '../../components/loading.tsx';
import { ViewLink } from '../../components/text.tsx';
import { countText, toWords } from '../../components/texts.ts';
import { call, type Result } from '../../requests/api.ts';
import { useChange, useRead } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';

/** The sample company: a button that creates it, or one that removes it. */
export function SampleData() {
  const state = useRead('describeSampleData', {});
  return <Loaded query={state}>{(data) => <SampleCompany {...data} />}</Loaded>;
}

function SampleCompany({ company, domain, isPresent, users, trips }: Result<'describeSampleData'>) {
  const canChange = useIsAdmin();
  const creation = useChange(() => call('createSampleData'));
  const [removal, setRemoval] = useState<string>();
  return (
    <Stack gap="sm" maw={720} align="flex-start">
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
      {isPresent && (
        <Text>
          It is in the travel service. Look at its{' '}
          <ViewLink href="/trip-projects" isInText>
            trips
          </ViewLink>{' '}
          and{' '}
          <ViewLink href="/invoices" isInText>
            invoices
          </ViewLink>
          .
        </Text>
      )}
      {canChange &&
        (isPresent ? (
          <ConfirmButton
            label={`Remove ${company}…`}
            title={`Remove ${company}?`}
            action={`Remove ${company}`}
            change={() => call('removeSampleData')}
            isDestructive
            onDone={({ removed, kept }) => {
              const rest =
                Object.keys(kept).length > 0 ? ` Others refer to ${resourcesText(kept)}, which stay.` : '';
              setRemoval(`✓ Removed ${resourcesText(removed)}.${rest}`);
            }}
          >
            <Text size="md">
              All travelers with an address at {domain} go, with their trips, invoices and API keys, and the
              company’s policies, cost centers and custom fields. This cannot be undone, but {company} can be
              created again.
            </Text>
          </ConfirmButton>
        ) : (
          <Button variant="filled" loading={creation.isPending} onClick={() => creation.mutate()}>
            Create {company}
          </Button>
        ))}
      {creation.isPending && (
        <Text c="dimmed" role="status">
          {company} is being created. That takes some seconds.
        </Text>
      )}
    </Stack>
  );
}

/** Numbers of resources by type, e.g. `200 users and 500 trip projects`. */
function resourcesText(counts: Partial<Record<string, number>>): string {
  const known = Object.entries(counts).map(([type, count = 0]) =>
    countText(count, toWords(type), toWords(type).replace(/y$/, 'ie').concat('s')),
  );
  return new Intl.ListFormat('en').format(known);
}
