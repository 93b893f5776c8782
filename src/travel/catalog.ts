import type { Resource } from './resource.ts';
import { billingOperation } from './resources/billing-operation.ts';
import { billingProfile } from './resources/billing-profile.ts';
import { costCenter } from './resources/cost-center.ts';
import { customField } from './resources/custom-field.ts';
import { customFieldOption } from './resources/custom-field-option.ts';
import { dispute } from './resources/dispute.ts';
import { event } from './resources/event.ts';
import { invoice } from './resources/invoice.ts';
import { projectCode } from './resources/project-code.ts';
import { refund } from './resources/refund.ts';
import { scimUserMapping } from './resources/scim-user-mapping.ts';
import { travelPolicy } from './resources/travel-policy.ts';
import { tripProject } from './resources/trip-project.ts';
import { user } from './resources/user.ts';
import { webhook } from './resources/webhook.ts';
import { webhookDelivery } from './resources/webhook-delivery.ts';

/** Every resource of the travel service. */
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
