import { Box, Button, Text } from '@mantine/core';
import { Failure } from '../../components/loading.tsx';
import { LoadedRows } from '../../components/rows.tsx';
import { ViewHead } from '../../components/view-head.tsx';
import { call } from '../../requests/api.ts';
import { useChange, useRead } from '../../requests/queries.ts';
import { useIsAdmin } from '../../requests/session.ts';
import { QuietKinds } from './acknowledge.tsx';

const names: Partial<Record<string, string>> = {
  webhook: 'Signed webhook',
  slack: 'Slack',
  teams: 'Microsoft Teams',
  pagerduty: 'PagerDuty',
  email: 'Mail',
};

/** The view of the channels on which operators get alerts, with a test. */
export function AlertsView() {
  const channels = useRead('listAlertChannels', {});
  const test = useChange(() => call('testAlerts'), { refreshes: [] });
  const canTest = useIsAdmin() && channels.data && channels.data.channels.length > 0;
  const resultOf = (name: string) => test.data?.results.find((one) => one.name === name);
  return (
    <>
      <ViewHead
        title="Alerts"
        actions={
          canTest && (
            <Button loading={test.isPending} onClick={() => test.mutate()}>
              Send a test alert
            </Button>
          )
        }
      >
        What needs attention on Overview is also sent to these channels of the settings.
      </ViewHead>
      <Failure error={test.error} mb="md" />
      <LoadedRows
        query={channels}
        rowsOf={(data) => data.channels}
        label="Channels"
        keyOf={({ name }) => name}
        columns={[
          { label: 'Channel', width: '30%', cell: ({ name }) => names[name] ?? name },
          {
            label: 'Answer to the test',
            cell: ({ name }) => resultOf(name) && <Answer {...resultOf(name)} />,
          },
        ]}
        empty="No channel is configured: set alerts.slack, alerts.teams, alerts.pagerduty, alerts.email or alerts.webhookUrl in the settings."
      />
      <Box mt="lg">
        <QuietKinds />
      </Box>
    </>
  );
}

function Answer({ accepted = false, text = '' }: { accepted?: boolean; text?: string }) {
  return (
    <Text role="status" {...(!accepted && { c: 'var(--mantine-color-error)' })}>
      {accepted ? '✓' : '✗'} {text}
    </Text>
  );
}
