import type { Resource } from './declaration/resource.ts';
import { billingOperation, dispute, invoice, refund } from './resources/billing.ts';
import { customField, customFieldOption } from './resources/custom-field.ts';
import { event } from './resources/event.ts';
import { billingProfile, costCenter, projectCode } from './resources/lookups.ts';
import { scimUserMapping } from './resources/scim-user-mapping.ts';
import { travelPolicy } from './resources/travel-policy.ts';
import { tripProject } from './resources/trip-project.ts';
import { user } from './resources/user.ts';
import { webhook, webhookDelivery } from './resources/webhook.ts';

/** All resources of the travel service. */
export const catalog: Resource[] = [
  user,
  billingProfile,
  costCenter,
  projectCode,
  customField,
  customFieldOption,
  travelPolicy,
  scimUserMapping,
  tripProject,
  billingOperation,
  invoice,
  refund,
  dispute,
  event,
  webhook,
  webhookDelivery,
];
