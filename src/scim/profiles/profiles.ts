import type { ScimProfileName } from '../../model/policies.ts';
import { type Attribute, attribute } from '../../schema/attributes.ts';
import type { JsonObject } from '../../schema/resource.ts';
import { type ResourceType, resourceTypes } from '../../schema/resource-types.ts';
import { checkStrictFilter, readStrictBody } from './strict-requests.ts';
import { strictTypes } from './strict-types.ts';

/** What the SCIM interface declares and accepts for one connection (docs/scim-profiles.md). */
export interface ScimProfile {
  /** The resource types as /ResourceTypes and /Schemas show them. */
  resourceTypes: readonly ResourceType[];
  /** What ServiceProviderConfig has in addition, and the attributes that declare it. */
  features: { values: JsonObject; attributes: readonly Attribute[] };
  /** Throws a ScimError for a filter on resources of a type that the profile refuses. */
  checkFilter(type: ResourceType, filter: string): void;
  /** Returns the body of a POST, PUT or PATCH as the endpoint reads it. Throws a ScimError for one that the profile refuses. */
  readBody(type: ResourceType, method: string, body: JsonObject): JsonObject;
}

/** The profiles by the values of the setting `scim`. */
export const scimProfiles = {
  interoperable: {
    resourceTypes,
    features: { values: {}, attributes: [] },
    checkFilter: () => {},
    readBody: (_type, _method, body) => body,
  },
  strict: {
    resourceTypes: strictTypes,
    features: {
      values: { interopProfileConformant: true },
      attributes: [
        attribute('interopProfileConformant', 'Whether it conforms to the SCIM interoperability profile.', {
          type: 'boolean',
          mutability: 'readOnly',
        }),
      ],
    },
    checkFilter: checkStrictFilter,
    readBody: readStrictBody,
  },
} as const satisfies Record<ScimProfileName, ScimProfile>;
