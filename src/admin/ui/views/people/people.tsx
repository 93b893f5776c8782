import { Route, Switch } from 'wouter';
import { PeopleList } from './people-list.tsx';
import { PersonView } from './person.tsx';

/** The people, or the one whom the address names. */
export function PeopleView() {
  return (
    <Switch>
      <Route path="/:connection/:id">
        {({ connection, id }) => <PersonView key={`${connection} ${id}`} connection={connection} id={id} />}
      </Route>
      <Route path="/" component={PeopleList} />
    </Switch>
  );
}
