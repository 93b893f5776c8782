import { normalize } from '../../src/schema/normalize.ts';
import { userType } from '../../src/schema/resource-types.ts';
import { parseMapping } from '../../src/translator/mapping-file.ts';
import { previewText } from '../../src/translator/preview.ts';
import { extensionUrns } from '../fixtures/extension-urns.ts';
import { translate } from '../fixtures/translator.ts';

describe.each(extensionUrns)('a mapping rule reads the extension of %s, %s,', (_, urn) => {
  const user = { userName: 'ada@x.example', [urn]: { badge: 'B-7', boss: { value: 'Max' } } };

  test.each([
    ['an attribute', `${urn}:badge`, 'B-7'],
    ['a sub-attribute', `${urn}:boss.value`, 'Max'],
    ['in another case', `${urn.toUpperCase()}:BADGE`.replace('URN:', 'urn:'), 'B-7'],
    ['a value filter', `${urn}:boss[value eq "Max"].value`, 'Max'],
  ])('%s', (_title, scimAttribute, value) => {
    const mapping = { scimUserMapping: [{ scimAttribute, userAttribute: 'lastName' }] };
    expect(parseMapping(mapping)).toHaveProperty('mapping');
    const { resource } = normalize(userType, user);
    const translation = translate(resource, { mapping });
    expect(translation.fields.lastName).toMatchObject({ kind: 'value', value });
    expect(previewText(translation)).toContain(value);
    const collection = [{ scimAttribute, userAttribute: 'lastName' }];
    expect(translate(resource, { collection }).fields.lastName).toMatchObject({ kind: 'value', value });
  });
});

test('a URN that another rule names is known: a dot may then follow it', () => {
  const rule = (scimAttribute: string, userAttribute: string) => ({ scimAttribute, userAttribute });
  const mapping = {
    scimUserMapping: [rule('urn:acme:hr.badge', 'lastName'), rule('urn:acme:hr:office', 'firstName')],
  };
  const user = { userName: 'ada', 'urn:acme': { hr: { badge: 'no' } }, 'urn:acme:hr': { badge: 'yes' } };
  expect(translate(user, { mapping }).fields.lastName).toMatchObject({ value: 'yes' });
});

test('a rule that names a schema and no attribute is still a fault', () => {
  const scimAttribute = 'urn:ietf:params:scim:schemas:extension:acme:2.0:User';
  const mapping = { scimUserMapping: [{ scimAttribute, userAttribute: 'lastName' }] };
  expect(JSON.stringify(parseMapping(mapping))).toContain('names a schema and no attribute');
});
