import { resolve } from 'node:path';
import { bannerText, type CreatedSecrets } from '../../src/cli/service/banner.ts';
import { readSettings } from '../../src/config/settings.ts';
import { writeSettingsFile } from '../fixtures/settings-file.ts';

const url = 'http://127.0.0.1:8080';
const none: CreatedSecrets = { scimToken: undefined, travelApiKey: undefined, adminPassword: undefined };
const home = resolve(__dirname, '../..');

/** The banner of a start with these settings. */
function banner(environment: Record<string, string>, created = none, connections?: Record<string, object>) {
  const file = writeSettingsFile({}, connections);
  const settings = readSettings({ JETBRIDGE_CONFIG: file.path, ...environment }, home);
  file.remove();
  return bannerText(settings, url, created);
}

describe('the banner of serve', () => {
  it('shows what an IdP needs, the travel service, the data folder, a next step, and last the created secrets with their replacements', () => {
    expect(
      banner(
        { JETBRIDGE_DATA: './data' },
        { scimToken: 'scim_abc', travelApiKey: 'travel_xyz', adminPassword: 'abcde-fghjk' },
      ),
    ).toBe(`Jetbridge serves on http://127.0.0.1:8080
  SCIM base URL   http://127.0.0.1:8080/scim/v2
  travel service  http://127.0.0.1:8080/api, described at http://127.0.0.1:8080/api/docs
  admin page      http://127.0.0.1:8080/admin
  documents       http://127.0.0.1:8080/docs
  data folder     ${resolve('data')}
  next step       "npx jetbridge doctor" tries all of it; README.md shows how to provision a first person

Keep these secrets: they were made at this first start and are shown only now.
  SCIM token      scim_abc
                  if it is lost: "npx jetbridge tokens create" makes another
  travel API key  travel_xyz
                  if it is lost: "npx jetbridge api-keys create --user EMAIL" makes another
  sign in with    admin, password abcde-fghjk
                  if it is lost: ADMIN_PASSWORD sets another at the next start`);
  });

  it('tells at a later start how to get a token and a key, without a secret', () => {
    const text = banner({});
    expect(text).toContain('  SCIM token      as before; "npx jetbridge tokens create" makes another\n');
    expect(text).toContain(
      '  travel API key  as before; "npx jetbridge api-keys create --user EMAIL" makes another\n',
    );
    expect(text).not.toContain('Keep');
    const secrets = { SCIM_TOKEN: 'scim-token-of-a-test', TRAVEL_API_KEY: 'travel-key-of-a-test' };
    const chosen = banner(secrets);
    expect(chosen.match(/as set in the environment;/g)).toHaveLength(2);
    for (const secret of Object.values(secrets)) expect(chosen).not.toContain(secret);
  });

  it('shows the outside travel API, and no travel service of its own beside it', () => {
    const text = banner({
      TRAVEL_API_URL: 'https://travel.example.com',
      TRAVEL_API_KEY: 'travel-key-of-a-test',
    });
    expect(text).toContain('  travel API      https://travel.example.com\n');
    expect(text).not.toMatch(/travel service|travel API key|:8080\/api\b/);
  });

  it('names the connections of each travel API, and asks for the connection of a token', () => {
    const at = (host: string) => ({ travelApi: { url: `https://${host}`, keyEnv: 'KEY' } });
    const connections = { us: at('a.example'), eu: at('b.example'), asia: at('b.example'), demo: {} };
    const text = banner({ KEY: 'travel-key-of-a-test' }, none, connections);
    expect(text).toContain(
      '  travel API      https://a.example (us)\n  travel API      https://b.example (eu, asia)\n',
    );
    expect(text).toContain('travel service  http://127.0.0.1:8080/api,');
    expect(text).toContain('"npx jetbridge tokens create --connection NAME" makes another');
  });

  it('uses the public address, and shows a PostgreSQL database without its password', () => {
    const text = banner({
      PUBLIC_URL: 'https://bridge.example.com/',
      DATABASE_URL: 'postgres://jetbridge:secret@db.example.com/jetbridge',
      JETBRIDGE_KEY: 'a3c95dfcb8e14f07926d18e0b7f3542a6c9e0d71f84b25a3d6e7901c8b4f5a2e',
    });
    expect(text).toContain('  SCIM base URL   https://bridge.example.com/scim/v2\n');
    expect(text).toContain('  travel service  https://bridge.example.com/api, ');
    expect(text).toMatch(/ {2}database {8}postgres:\/\/.*db\.example\.com\/jetbridge\n/);
    expect(text).not.toMatch(/secret|data folder/);
  });
});
