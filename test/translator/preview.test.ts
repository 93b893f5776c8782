import { namesById } from '../../src/provisioning/people/explain-fields.ts';
import { previewText } from '../../src/translator/preview.ts';
import { lookups, translate } from '../fixtures/translator.ts';

it('the preview has each field with the part of every rule, then the findings', () => {
  const mapping = {
    scimUserMapping: [{ scimAttribute: 'title', customField: 'Job title', transforms: ['trim'] }],
  };
  const user = {
    userName: 'ada@corp.example',
    emails: [{ type: 'work', value: 'ada@x.example' }],
    title: ' Buyer ',
    phoneNumbers: [{ type: 'mobile', value: '+1 425 555 0100 x12' }],
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { manager: { value: 'm-1' } },
  };
  expect(previewText(translate(user, { mapping }))).toBe(`archived               = false
                       set by default rule active: true → false
email                  = "ada@x.example"
                       set by default rule emails[type eq "work"].value: "ada@x.example" → "ada@x.example"
phoneNumber            - left out
                       absent by default rule phoneNumbers[type eq "mobile"].value: "+1 425 555 0100 x12" (The phone number has an extension, which the travel API cannot hold.)
managerId              ? unresolved: what was there before stays
                       unresolved by default rule urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager.value: "m-1" (No user of this connection matches this manager.)
customFields.cf-title  = [{"data":"Buyer"}]
                       set by file rule title | trim: " Buyer " → [{"data":"Buyer"}]

If that email is taken, ada@corp.example serves.

Nothing for: firstName, lastName, lang, address.streetAddress, address.city, address.region, address.postalCode, address.countryCode, costCenterId, billingProfileId, travelPolicyId, dateOfBirth, gender, currency, separateIcsEmails, roles.

Findings:
  phoneNumber "+1 425 555 0100 x12": The phone number has an extension, which the travel API cannot hold. [phoneExtension]
    Correct the phone number in the identity provider, e.g. +33 612345678.
  managerId "m-1": No user of this connection matches this manager. [managerUnknown]
    Provision the manager too, or correct the value; the manager is set by itself once that user is there.
`);
});

it('the preview shows the names of custom fields, and of ids behind them', () => {
  const mapping = {
    scimUserMapping: [
      { scimAttribute: 'title', customField: 'Job title' },
      { scimAttribute: 'nickName', customField: 'Employee number' },
    ],
    defaults: { costCenter: { name: 'Marketing' } },
  };
  const translation = translate({ userName: 'ada@x.example', title: 'Buyer' }, { mapping });
  const text = previewText(translation, namesById(lookups));
  expect(text).toContain('\nJob title     = [{"data":"Buyer"}]\n');
  expect(text).toMatch(/\ncostCenterId {2}= "cc-\w+" \(Marketing\)\n/);
  expect(text).not.toContain('customFields.');
  expect(text).toMatch(/Nothing for: .*, Employee number, roles\./);
});

it('the preview of a translation without findings says so', () => {
  expect(previewText(translate({ userName: 'ada@x.example' }))).toContain('\n\nNo findings.\n');
});

it('the preview shows which rule was used, which source it read, and why the rules before it were not', () => {
  const mapping = {
    scimUserMapping: [
      { scimAttribute: 'title', userAttribute: 'costCenterId', when: 'userType eq "Contractor"' },
      { template: 'Marketing', userAttribute: 'costCenterId', when: 'userType pr' },
      { scimAttribute: 'nickName', userAttribute: 'costCenterId' },
      { sources: ['nickName', 'title'], userAttribute: 'firstName', transforms: ['uppercase'] },
      { template: '{title} of {userType}', userAttribute: 'lastName' },
      { scimAttribute: 'title', customField: 'Job title', when: 'active eq false' },
      { template: '{title} of {nickName}', customField: 'Employee number', when: 'title pr' },
    ],
  };
  const text = previewText(
    translate({ userName: 'ada@x.example', userType: 'Employee', title: 'Buyer' }, { mapping }),
  );
  const [blocks = ''] = text.split('\n\n');
  expect(blocks.split('\n').slice(7).join('\n')).toBe(
    `firstName               = "BUYER"
                        set by file rule nickName → title | uppercase, read from title: "Buyer" → "BUYER"
lastName                = "Buyer of Employee"
                        set by file rule "{title} of {userType}": "Buyer of Employee" → "Buyer of Employee"
costCenterId            = "cc-13"
                        skipped by file rule title (when userType eq "Contractor" is false)
                        set by file rule "Marketing", when userType pr: "Marketing" → "cc-13"
customFields.cf-title   - left out
                        skipped by file rule title (when active eq false is false)
customFields.cf-number  - left out
                        absent by file rule "{title} of {nickName}", when title pr (no value for nickName)`,
  );
});

it('the preview says first that a user is out of scope', () => {
  const text = previewText(translate({ userName: 'bot' }, { mapping: { scope: 'userType pr' } }));
  expect(text).toMatch(/^Out of scope: this person gets no traveler\./);
});
