import { withVisibleCharacters } from '../schema/clean-text.ts';
import type { Json } from '../schema/resource.ts';
import { type Decision, type Identity, isSamePerson, type ShadowCall, type Succession } from './identity.ts';
import type { Finding } from './translation.ts';
import type { CustomFieldValue } from './traveler.ts';

/** The findings about what a connection in shadow mode would do first once it is live: the code of each, and the call as a noun. */
export const shadowCalls = {
  create: { code: 'shadowCreate', noun: 'the creation of a traveler' },
  link: { code: 'shadowLink', noun: 'the link to a traveler that exists' },
  change: { code: 'shadowChange', noun: 'a change of the traveler' },
  reactivate: { code: 'shadowReactivation', noun: 'the reactivation of the archived traveler' },
  end: { code: 'shadowDeparture', noun: 'the archive or deletion of the traveler' },
} as const satisfies Record<ShadowCall, unknown>;

/** The codes of the findings that are plans of a connection in shadow mode: nothing is left out. */
export const planCodes: ReadonlySet<string> = new Set(Object.values(shadowCalls).map(({ code }) => code));

const sendAgain =
  'Let the identity provider send the person again, or have the stored values sent: npx jetbridge people send-again, or "Send again" on the page of the person.';

const decideDeparture =
  'Approve or discard it (npx jetbridge holds); reactivating the user in the identity provider ends the wait, too.';

/** The findings of the reconciler, which an admin reads on the identity. The translator has its own. */
export const findings = {
  noEmail: (): Finding => ({
    field: 'email',
    code: 'noEmail',
    reason: 'There is no usable email address, and no traveler can exist without one.',
    remedy: 'Give the user a work email address, or a userName that is an address, in the identity provider.',
  }),
  outOfScope: (filter: string, traveler: keyof typeof scopeEffects): Finding => ({
    field: '*',
    code: 'outOfScope',
    reason: `This person does not match the scope of the mapping (${filter}). ${scopeEffects[traveler]}`,
    remedy:
      'Nothing needs to be done if that is meant. Otherwise correct the attributes of the user in the identity provider, or "scope" in the mapping.',
  }),
  scopeUnresolved: (filter: string): Finding => ({
    field: '*',
    code: 'scopeUnresolved',
    reason: `The scope of the mapping (${filter}) names a group that the identity provider has not sent yet, so it is not known whether this person is in scope.`,
    remedy:
      'Nothing needs to be done if the group follows. Otherwise assign the group to the application in the identity provider, or correct its name in "scope" of the mapping.',
  }),
  emailTaken: (email: string): Finding => ({
    field: 'email',
    code: 'emailTaken',
    value: email,
    reason: 'Another traveler has this email address.',
    remedy: 'Correct one of the two addresses; this one follows by itself once the address is free.',
  }),
  plannedEmail: (email: string): Finding => ({
    field: 'email',
    code: 'emailTaken',
    value: email,
    reason: 'The report of shadow mode gives this email address to an earlier user, who is not in the pilot.',
    remedy: 'Correct one of the two addresses, or let the pilot have the earlier user, who gets it then.',
  }),
  furtherTraveler: (travelId: string, own: string): Finding => ({
    field: '*',
    code: 'furtherTraveler',
    value: travelId,
    reason: `The traveler ${travelId}, whom no identity provider has sent, has a further address of this user.`,
    remedy: `If both are one person, run: npx jetbridge people join ${travelId} ${own}`,
  }),
  privileged: (): Finding => ({
    field: 'roles',
    code: 'privileged',
    reason:
      'The existing traveler administers the travel service, and is linked only after an admin has approved it.',
    remedy:
      'Approve it (npx jetbridge holds approve), take the role away in the travel service, or leave this person to be managed there.',
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
  guarded: (): Finding => ({
    field: 'roles',
    code: 'guarded',
    reason:
      'This traveler administers the travel service by a role that the mapping did not give; email and roles stay as they are.',
    remedy:
      'Take the role away in the travel service, or leave address and roles of this person to be managed there.',
  }),
  guardedLeaver: (): Finding => ({
    field: 'archived',
    code: 'guarded',
    value: true,
    reason:
      'This traveler administers the travel service by a role that the mapping did not give, and is not archived without an admin.',
    remedy:
      'Approve it (npx jetbridge holds approve), or take the role away in the travel service and deactivate the user again.',
  }),
  heldBySafetyValve: (): Finding => ({
    field: 'archived',
    code: 'safetyValve',
    value: true,
    reason: 'Many people left at once, more than the connection lets go without an admin.',
    remedy: decideDeparture,
  }),
  heldAgain: (): Finding => ({
    field: 'archived',
    code: 'safetyValve',
    value: true,
    reason:
      'An admin has discarded the departure of this person before, and the identity provider states it again.',
    remedy: decideDeparture,
  }),
  keptActive: ({ by, at }: Pick<Decision, 'by' | 'at'> = {}): Finding => ({
    field: 'archived',
    code: 'keptActive',
    value: false,
    reason: `The identity provider wants this person to leave, and ${by ?? 'an admin'} keeps the traveler active${at === undefined ? '' : ` since ${new Date(at).toISOString().slice(0, 10)}`}.`,
    remedy:
      'Reactivate the user in the identity provider if the person stays. A deactivation or a DELETE that the identity provider sends again waits for an admin again.',
  }),
  neverProvisioned: (): Finding => ({
    field: 'archived',
    code: 'neverProvisioned',
    value: true,
    reason:
      'The identity provider has deleted a person whom it had never sent; the traveler is left alone until an admin has approved it.',
    remedy:
      'Approve it (npx jetbridge holds approve) to archive the traveler, or discard it to list the person again.',
  }),
  /** The finding of a newcomer about the user in whose place it is; undefined if there is nothing to say. */
  predecessor: (predecessor: Succession, own: Linked): Finding | undefined => {
    const { connection, travelId } = predecessor;
    if (!isSamePerson(predecessor))
      return {
        field: '*',
        code: 'otherPerson',
        ...(travelId === undefined ? {} : { value: travelId }),
        reason: `This user took the place of ${otherOf(predecessor)}, who is another person: ${rowText(predecessor)}. The traveler of the leaver stays with the leaver.`,
        remedy: joinRemedy(predecessor),
      };
    if (connection === own.connection) return secondUser(predecessor);
    return travelId !== undefined && travelId === own.travelId ? movedFrom(connection) : undefined;
  },
  /** The finding of a leaver, or of a user who has a second one, about the newcomer; undefined if there is nothing to say. */
  successor: (successor: Succession, own: Linked): Finding | undefined => {
    const { connection, id = '' } = successor;
    const newcomer = otherOf(successor);
    if (!isSamePerson(successor))
      return {
        field: '*',
        code: 'otherPerson',
        value: id,
        reason: `The place of this user was taken by ${newcomer}, who is another person: ${rowText(successor)}. The traveler stays with this user; it gives its email address up if the other one needs it.`,
        remedy: `If both are one person, run: npx jetbridge people join ${own.id} ${id}`,
      };
    if (own.travelId !== undefined) return successor.row === 'joined' ? undefined : secondUser(successor);
    if (connection !== own.connection) return movedTo(connection);
    return {
      field: '*',
      code: 'passedOn',
      value: id,
      reason: `The traveler is that of ${newcomer} now, who is the same person: ${rowText(successor)}.`,
      remedy: nothingToDo,
    };
  },
  groupUnresolved: (group: string): Finding => ({
    field: '*',
    code: 'groupUnresolved',
    value: group,
    reason: `The mapping or the pilot names the group "${group}", of which this person was a member, and there is no such group any more. What the membership decides stays.`,
    remedy:
      'Create the group again or give it its name back in the identity provider, or remove the name from the mapping or the pilot.',
  }),
  heldByLeaver: (email: string): Finding => ({
    field: 'email',
    code: 'emailHeldByLeaver',
    value: email,
    reason: 'The traveler of somebody who left has this email address, and is about to give it up.',
    remedy: 'Nothing: this address follows by itself.',
  }),
  erasedTraveler: (email: string): Finding => ({
    field: 'email',
    code: 'erasedTraveler',
    value: email,
    reason:
      'The traveler of a person who was erased (npx jetbridge erase) still has this email address in the travel service, and is given to nobody.',
    remedy:
      'Delete that traveler in the travel service, or take the address away from it; this one follows by itself once the address is free.',
  }),
  unfindableEmail: (email: string): Finding => ({
    field: 'email',
    code: 'emailTaken',
    value: email,
    reason:
      'The travel API says that a traveler has this email address, and finds none under it; it may be spelled another way there.',
    remedy:
      'Look for the address in the travel service and correct its spelling; it is tried again at each import.',
  }),
  reservedEmail: (email: string): Finding => ({
    field: 'email',
    code: 'emailReserved',
    value: email,
    reason:
      'Jetbridge parks addresses at this domain (emailSwap.parkingDomain), where nobody has one of their own.',
    remedy: 'Correct the address in the identity provider, or choose another parking domain.',
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
  rolePreexisting: (field: string): Finding => ({
    field,
    code: 'rolePreexisting',
    value: field.slice('roles.'.length),
    reason:
      'The traveler had this role before the identity provider granted it, and keeps it although the identity provider has taken it away.',
    remedy: 'Take the role away in the travel service if it is not meant to stay.',
  }),
  restored: (field: string, stored: Json, shown: Json): Finding => ({
    field,
    code: 'restored',
    value: withVisibleCharacters(shown),
    reason: `The database was restored from a backup, which has ${textOf(stored)}; the traveler has ${textOf(shown)} and keeps it.`,
    remedy: sendAgain,
  }),
  restoredMissing: (): Finding => ({
    field: '*',
    code: 'restored',
    reason:
      'The database was restored from a backup, and the person has no traveler now: it may have been deleted since, so none is created.',
    remedy: sendAgain,
  }),
  restoredDeparture: (): Finding => ({
    field: 'archived',
    code: 'restored',
    reason:
      'The database was restored from a backup, after which the person is to have no access; the traveler is active, so the departure waits.',
    remedy:
      'Approve or discard the departure under "Decisions" (npx jetbridge holds), or let the identity provider send the person again.',
  }),
  shadow: (call: ShadowCall, fields: string[]): Finding => ({
    field: '*',
    code: shadowCalls[call].code,
    ...(fields.length === 0 ? {} : { value: fields }),
    reason: `The connection is in shadow mode: ${shadowCalls[call].noun} is planned, and not carried out.`,
    remedy:
      'Look at the plan of everybody with npx jetbridge shadow report, or on the page under "Shadow report", and go live when it is right.',
  }),
  unconfirmed: (field: string, sent: Json, shown: Json): Finding => ({
    field,
    code: 'unconfirmed',
    value: withVisibleCharacters(shown),
    reason: `The travel API has accepted ${sentText(sent)}, and its answer shows ${textOf(shown)}.`,
    remedy:
      'Nothing needs to be done yet: the traveler is read again after travelApi.lateMs, by default 30 seconds.',
  }),
  notApplied: (field: string, sent: Json, shown: Json): Finding => ({
    field,
    code: 'notApplied',
    value: withVisibleCharacters(shown),
    reason:
      field === 'archived' && sent === true
        ? 'The travel API has accepted that this traveler is archived, and a later read shows that it is not: the person still has access.'
        : `The travel API has accepted ${sentText(sent)}, and a later read shows ${textOf(shown)}.`,
    remedy: retryTexts[field] ?? retryTexts['*'],
  }),
  unclearAnswer: (status?: number): Finding => ({
    field: '*',
    code: 'unclearAnswer',
    ...(status === undefined ? {} : { value: status }),
    reason:
      'For about five minutes, calls about this person have been answered 403 or 404 without the error code of the travel API. A gateway or firewall may have answered in its place, so nothing is concluded, and the change is not carried out yet.',
    remedy:
      'Run npx jetbridge doctor, and check what stands between Jetbridge and the travel API. The change is tried again each minute. If the travel API never sends error codes, errors.isOwn of its profile must say so.',
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

/** The effects of a scope on the traveler of a person whom it leaves out. */
const scopeEffects = {
  none: 'There is no traveler for the person, and none is linked.',
  kept: 'The traveler stays as it is until the person is in scope again, deactivated or deleted.',
  archived: 'The mapping has the traveler archived until the person is in scope again.',
  keptActive: 'The mapping has the traveler archived, and an admin keeps it active.',
} as const;

function sentText(sent: Json): string {
  return sent === null ? 'the removal of this value' : `the value ${textOf(sent)}`;
}

function textOf(value: Json): string {
  return value === null ? 'none' : JSON.stringify(withVisibleCharacters(value));
}

/** When a value that was not applied is sent again, by field. */
const retryTexts = {
  archived:
    'Archive or restore the traveler in the travel service by hand, and ask its provider why the change has no effect; it is sent again each hour.',
  email:
    'Change the address in the travel service by hand, and ask its provider why the change has no effect; it is sent again once a day.',
  '*': 'Change the value in the travel service by hand, and ask its provider why the change has no effect; it is sent again when it changes in the identity provider, or when the mapping does.',
} as Record<string, string> & { '*': string };

const nothingToDo = 'Nothing needs to be done.';

/** The user to whom a finding belongs, and its traveler. */
type Linked = Pick<Identity, 'connection' | 'id' | 'travelId'>;

/** The rows of the table that says who is who (docs/architecture.md, Leaving and returning), as clauses. */
const rowTexts = {
  1: 'the externalIds are equal, or the user and its names are unchanged (row 1)',
  2: 'the names and the address or userName are equal, and the departure is less than 90 days ago (row 2)',
  3: 'neither an externalId nor the names and a recent departure say that both are one (row 3)',
  joined: 'an admin has said so',
} satisfies Record<Succession['row'], string>;

function rowText({ row }: Succession): string {
  return rowTexts[row];
}

function movedFrom(connection: string): Finding {
  return {
    field: '*',
    code: 'movedFrom',
    value: connection,
    reason: `The traveler was provisioned by the connection ${connection} before, in which this person has left.`,
    remedy: 'Nothing needs to be done, if the person is meant to have moved.',
  };
}

function movedTo(connection: string): Finding {
  return {
    field: '*',
    code: 'movedTo',
    value: connection,
    reason: `The traveler is provisioned by the connection ${connection} now, which has created this person.`,
    remedy: 'Nothing needs to be done, if the person is meant to have moved.',
  };
}

function otherOf({ id, travelId, connection }: Succession): string {
  return id === undefined
    ? `the archived traveler ${travelId ?? ''}`
    : `the user ${id} of the connection ${connection}`;
}

function joinRemedy({ id, travelId }: Succession): string {
  return `If both are one person, run: npx jetbridge people join ${id ?? travelId ?? ''} with the id of this user, or press "Join" on the page of this user.`;
}

function secondUser(succession: Succession): Finding {
  return {
    field: '*',
    code: 'secondUser',
    value: succession.id ?? '',
    reason:
      `${otherOf(succession)} is the same person: ${rowText(succession)}. While both are active, none takes the traveler of the other.`.replace(
        /^t/,
        'T',
      ),
    remedy:
      'Deactivate one of the two users in the identity provider, and join them if the other one should have its traveler (npx jetbridge people join).',
  };
}
