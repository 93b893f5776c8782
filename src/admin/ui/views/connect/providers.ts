/** The identity providers that have a wizard of their own, and any other. */
export type ProviderKey = 'okta' | 'entra' | 'other';

/** How a provider authenticates: by a bearer token, as an OAuth client with a secret, or as a workload of another issuer. */
export type Method = 'token' | 'client' | 'federation';

/** A field of a provider's console. A `secret` is made on this page. */
export interface FieldValue {
  label: string;
  value: string | { secret: 'token' | 'clientId' | 'clientSecret' };
  /** False for a choice of the console, which cannot be pasted. */
  isPasted?: false;
}

/** One screen of a provider's console. */
export interface Screen {
  title: string;
  /** The way to the screen, and the steps to take there. */
  text: string;
  fields: FieldValue[];
  /** True for the screen that shows the workload, which is entered on this page. */
  showsWorkload?: true;
}

export interface Provider {
  label: string;
  hint: string;
  /** The first one is preselected. */
  methods: Method[];
  /** The sender of the test call, as sentences name it. */
  caller: string;
  screens(urls: Urls, method: Method): Screen[];
}

interface Urls {
  connection: string;
  scimUrl: string;
  tokenEndpoint: string;
}

/** The fields by which a client proves who it is. The id of a workload is the name of its connection. */
function proofOf(method: Method, { connection, tokenEndpoint }: Urls, labels: ProofLabels): FieldValue[] {
  if (method === 'token') return [{ label: labels.token, value: { secret: 'token' } }];
  const isWorkload = method === 'federation';
  return [
    ...(isWorkload ? [] : [choice(...labels.grant)]),
    { label: labels.endpoint, value: tokenEndpoint },
    { label: labels.clientId, value: isWorkload ? connection : { secret: 'clientId' } },
    ...(isWorkload ? [] : [{ label: labels.clientSecret, value: { secret: 'clientSecret' } } as const]),
  ];
}

interface ProofLabels {
  token: string;
  grant: [label: string, value: string];
  endpoint: string;
  clientId: string;
  clientSecret: string;
}

const entraLabels: ProofLabels = {
  token: 'Secret Token',
  grant: ['Authentication method', 'OAuth2 Client Credentials Grant'],
  ...{ endpoint: 'Token Endpoint', clientId: 'Client Identifier', clientSecret: 'Client Secret' },
};

const otherLabels: ProofLabels = {
  token: 'Bearer token',
  grant: ['Grant type', 'client_credentials'],
  ...{ endpoint: 'Token endpoint', clientId: 'Client id', clientSecret: 'Client secret' },
};

/** The screen with the workload; none for another method. */
function workloadScreen(method: Method, text: string, fields: FieldValue[] = []): Screen[] {
  return method === 'federation' ? [{ title: 'The workload', text, fields, showsWorkload: true }] : [];
}

const choice = (label: string, value: string): FieldValue => ({ label, value, isPasted: false });

/** The steps are those of docs/connect-okta.md and docs/connect-entra.md. */
export const providers: Record<ProviderKey, Provider> = {
  okta: {
    label: 'Okta',
    hint: 'An app integration with SCIM provisioning',
    methods: ['token'],
    caller: 'Okta',
    screens: ({ scimUrl }) => [
      {
        title: 'The app integration',
        text: 'Applications → Create App Integration. Complete the form as for your travel site; an existing app works, too. Then in the app: General → App Settings → Edit.',
        fields: [choice('Sign-in method', 'SAML 2.0 (or SWA)'), choice('Provisioning', 'SCIM')],
      },
      {
        title: 'The connection',
        text: 'Provisioning → Integration → Edit. Then Test Connector Configuration, and Save.',
        fields: [
          { label: 'SCIM connector base URL', value: scimUrl },
          { label: 'Unique identifier field for users', value: 'userName' },
          choice(
            'Supported provisioning actions',
            'Import New Users and Profile Updates · Push New Users · Push Profile Updates · Push Groups, if you want',
          ),
          choice('Authentication Mode', 'HTTP Header'),
          { label: 'Authorization: Bearer', value: { secret: 'token' } },
        ],
      },
      {
        title: 'What is sent',
        text: 'Provisioning → To App → Edit. The default attribute mappings are understood.',
        fields: [
          choice('Enable', 'Create Users · Update User Attributes · Deactivate Users'),
          choice('Leave off', 'Sync Password'),
        ],
      },
      {
        title: 'The first people',
        text: 'Assign a few people first. Somebody whose address belongs to an existing traveler is linked to it. Then assign the groups. The import of Okta lists the people of the travel service.',
        fields: [],
      },
    ],
  },
  entra: {
    label: 'Entra ID',
    hint: 'An enterprise application with automatic provisioning',
    methods: ['token', 'client', 'federation'],
    caller: 'Entra ID',
    screens: (urls, method) => [
      {
        title: 'The application',
        text: 'Enterprise apps → New application → Create your own application.',
        fields: [
          choice('Kind', 'Integrate any other application you don’t find in the gallery (Non-gallery)'),
        ],
      },
      ...workloadScreen(
        method,
        'Provisioning → Get started (or New configuration) → Select Workload Identity. It shows three values: enter them here.',
        [choice('Authentication method', 'Workload Identity Federation')],
      ),
      {
        title: 'The connection',
        text: 'Provisioning → Get started (or New configuration). Then Test Connection, and Save.',
        fields: [
          choice('Provisioning Mode', 'Automatic'),
          { label: 'Tenant URL', value: `${urls.scimUrl}?aadOptscim062020` },
          ...proofOf(method, urls, entraLabels),
        ],
      },
      {
        title: 'What is sent',
        text: 'Mappings → Provision Microsoft Entra ID Users. The default mappings are understood.',
        fields: [
          choice('Matching attribute', 'userName, precedence 1'),
          choice('Better than the default', 'objectId → externalId, because it never changes'),
        ],
      },
      {
        title: 'The first people',
        text: 'Provision on demand for one or two people first. Somebody whose address belongs to an existing traveler is linked to it. Then Users and groups: assign, and Start provisioning. The discovery of existing identities lists the people of the travel service.',
        fields: [],
      },
    ],
  },
  other: {
    label: 'Another',
    hint: 'Any client of SCIM 2.0, or a script',
    methods: ['token', 'client', 'federation'],
    caller: 'the identity provider',
    screens: (urls, method) => [
      ...workloadScreen(method, 'The identity provider issues the assertions: enter here what they say.'),
      {
        title: 'The connection',
        text: 'Where the identity provider asks for its SCIM 2.0 target. Then let it test the connection.',
        fields: [
          { label: 'SCIM base URL', value: urls.scimUrl },
          ...proofOf(method, urls, otherLabels),
          choice('Unique identifier of users', 'userName'),
        ],
      },
      {
        title: 'People who exist already',
        text: 'The people of the travel service are listed. When a client deletes somebody whom it has never sent, the traveler stays until an admin decides, under Decisions.',
        fields: [],
      },
    ],
  },
};

/** Returns true if identity providers in the cloud can use a URL. */
export function isReachableUrl(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' && !/^(localhost|127\..*|\[::1\])$/.test(hostname);
}
