import type { Resource } from '../../../src/travel/declaration/resource.ts';
import type { JsonObject } from '../../../src/travel/json.ts';
import { type Fixture, openFixture } from '../../fixtures/travel.ts';
import { collectionOf, sample, without } from '../samples.ts';

/** The fixture of some tests and the collection of one resource. */
export interface ResourceFixture {
  readonly fixture: Fixture;
  /** The path of the collection. */
  readonly path: string;
  post(data: unknown): ReturnType<Fixture['send']>;
  /** Creates the sample with this number. */
  make(number?: number): Promise<JsonObject & { id: string }>;
}

/** Opens a fixture for the tests of the surrounding `describe`. */
export function resourceFixture(resource: Resource): ResourceFixture {
  let fixture: Fixture;
  let path: string;
  beforeAll(async () => {
    fixture = await openFixture();
    path = await collectionOf(fixture, resource);
  });
  afterAll(() => fixture.close());
  return {
    get fixture() {
      return fixture;
    },
    get path() {
      return path;
    },
    post: (data) => fixture.send('post', path, { data }),
    make: async (number = 0) => {
      const made = await fixture.make(path, sample(resource, number));
      // Later responses do not contain the secret.
      return resource.secret ? { ...without(made, resource.secret.field), id: made.id } : made;
    },
  };
}

/** Opens a fixture for the tests of the surrounding `describe`. Each test finds the collection as the first one found it. */
export function restoredFixture(resource: Resource): ResourceFixture {
  const view = resourceFixture(resource);
  const readIds = async () => {
    const { body } = await view.fixture.send('get', `${view.path}?limit=100`);
    return body.data.map(({ id }: { id: string }) => id) as string[];
  };
  let initial: string[] = [];
  beforeAll(async () => {
    initial = await readIds();
    view.fixture.changes.length = 0;
  });
  afterEach(async () => {
    for (const id of await readIds()) {
      if (!initial.includes(id)) await view.fixture.send('delete', `${view.path}/${id}`).expect(200);
    }
    view.fixture.changes.length = 0;
  });
  return view;
}

/** Matches one entry of `invalid`. */
export function matchFault(field: string, code: string): unknown {
  return expect.objectContaining({ field, code, message: expect.any(String) });
}

/** Matches the body of a failure. */
export function matchError(code: string, invalid?: unknown[]): unknown {
  const body = { code, message: expect.any(String) };
  return invalid === undefined ? body : { ...body, invalid };
}
