import { Select, Tabs } from '@mantine/core';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { Loaded } from '../../components/loading.tsx';
import { TabList, ViewHead } from '../../components/view-head.tsx';
import { useRead } from '../../requests/queries.ts';
import { Groups } from './groups.tsx';
import { Resources } from './resources.tsx';
import { kindOfPath, resourceKinds } from './texts.ts';

/** The lists that mappings name entries of: resources of the travel service, and groups of the identity provider. */
export function ListsView() {
  const connections = useRead('listConnections', {});
  return (
    <Loaded query={connections}>
      {({ connections: all }) => (
        <Switch>
          <Route path="/:connection/:part/:id?">
            {({ connection, part, id }) => {
              const chosen = all.find((one) => one.id === connection);
              if (!chosen) return <Redirect to="/" replace />;
              return (
                <Lists
                  key={connection}
                  part={part}
                  item={id}
                  connections={all.map((one) => one.id)}
                  {...chosen}
                />
              );
            }}
          </Route>
          <Redirect to={`/${all[0]?.id ?? 'none'}/cost-centers`} replace />
        </Switch>
      )}
    </Loaded>
  );
}

interface ListsProps {
  id: string;
  travelApi: string;
  connections: string[];
  part: string;
  /** The custom field or group that the address names. */
  item: string | undefined;
}

function Lists({ id: connection, travelApi, connections, part, item }: ListsProps) {
  const [, navigate] = useLocation();
  const kind = kindOfPath(part);
  const content = kind ? (
    <Resources key={kind.list} {...{ connection, travelApi, kind }} field={item} />
  ) : (
    <Groups connection={connection} id={item} />
  );
  return (
    <>
      <ViewHead
        title="Lists"
        actions={
          connections.length > 1 && (
            <Select
              size="xs"
              aria-label="Connection"
              data={connections}
              value={connection}
              allowDeselect={false}
              onChange={(chosen) => chosen && navigate(`/${chosen}/${part}`)}
            />
          )
        }
      >
        What the rules of a mapping can name, as the bridge knows it.
      </ViewHead>
      <Tabs
        value={kind?.path ?? 'groups'}
        onChange={(chosen) => navigate(`/${connection}/${chosen}`)}
        keepMounted={false}
      >
        <TabList labels={tabLabels} />
        <Tabs.Panel value={kind?.path ?? 'groups'}>{content}</Tabs.Panel>
      </Tabs>
    </>
  );
}

const tabLabels = {
  ...Object.fromEntries(resourceKinds.map(({ path, label }) => [path, label])),
  groups: 'Groups',
};
