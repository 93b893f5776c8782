import type { Finding } from '../translator/result.ts';
import type { CustomFieldValue } from '../translator/travel-user.ts';

/** Everything the bridge itself has to tell an admin; the translator has its own. */
export const findings = {
  noEmail: (): Finding => ({
    field: 'email',
    code: 'noEmail',
    reason: 'There is no usable email address, and no traveler can exist without one.',
    remedy: 'Give the user a work email address, or a userName that is an address, in the identity provider.',
  }),
  emailTaken: (email: string): Finding => ({
    field: 'email',
    code: 'emailTaken',
    value: email,
    reason: 'Another traveler has this email address.',
    remedy: 'Correct one of the two addresses; this one follows by itself once the address is free.',
  }),
  existingUser: (email: string): Finding => ({
    field: 'email',
    code: 'existingUser',
    value: email,
    reason:
      'A traveler with this address exists already, and the connection refuses to link it (onExistingUser).',
    remedy: 'Set onExistingUser to "link", or remove the traveler from the travel service.',
  }),
  privileged: (): Finding => ({
    field: 'roles',
    code: 'privileged',
    reason:
      'The existing traveler administers the travel service; an identity provider may not take it over unseen.',
    remedy: 'Take the admin role away in the travel service, or leave this person to be managed there.',
  }),
  ownCredential: (): Finding => ({
    field: '*',
    code: 'ownCredential',
    reason: 'Jetbridge uses the credential of this traveler and never changes it.',
    remedy:
      'Attach the travel credential to a technical user, or leave this person to be managed in the travel service.',
  }),
  notDeleted: (): Finding => ({
    field: 'archived',
    code: 'notDeleted',
    reason:
      'The travel API does not delete this traveler, who has been on trips for instance; they are archived instead.',
    remedy: 'Nothing needs to be done: who is archived has no access.',
  }),
  forbidden: (field: string): Finding => ({
    field,
    code: 'forbidden',
    reason: 'The travel API does not allow this change.',
    remedy:
      'Check what the travel credential may do; the change is tried again when the identity provider repeats it.',
  }),
  customFieldLost: ({ customFieldId, name, values }: CustomFieldValue): Finding => ({
    field: `customFields.${customFieldId}`,
    code: 'customFieldLost',
    value: values.map(
      ({ data, displayName, customFieldOptionId }) => data ?? displayName ?? customFieldOptionId ?? '',
    ),
    reason: `The travel API does not take back the value of the custom field "${name ?? customFieldId}", which is disabled there or has this option disabled; the value had to be left out to change the others.`,
    remedy:
      'Enable the custom field or the option in the travel service and enter the value again, if it is needed.',
  }),
  refused: (field: string, value: Finding['value'], reason: string): Finding => ({
    field,
    code: 'refusedByTravelApi',
    ...(value === undefined ? {} : { value }),
    reason: `The travel API refuses this value: ${reason}`,
    remedy:
      'Correct the value in the identity provider, or the mapping; it is tried again when either changes.',
  }),
};
