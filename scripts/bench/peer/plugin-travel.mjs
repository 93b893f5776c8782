// A plugin of jelhub/scimgateway for the travel API, in the form of the plugins that come with it: users only, DELETE archives.
// It runs in a folder of the bench beside a link to the checkout; its configuration is written by ../peer.mjs.
import { HelperRest, ScimGateway } from 'scimgateway';

const scimgateway = new ScimGateway();
const helper = new HelperRest(scimgateway);
scimgateway.authPassThroughAllowed = false;

scimgateway.getUsers = async (baseEntity, getObj, _attributes, ctx) => {
  const { operator, attribute, value, startIndex = 1, count = 200 } = getObj;
  if (operator === 'eq' && attribute === 'id') {
    const { data } = await call(baseEntity, 'GET', `/users/${value}`, null, ctx);
    return { Resources: [toScim(data)], totalResults: 1 };
  }
  if (operator === 'eq' && ['userName', 'externalId'].includes(attribute)) {
    const { data } = await call(baseEntity, 'GET', `/users?emails=${encodeURIComponent(value)}`, null, ctx);
    return { Resources: data.map(toScim), totalResults: data.length };
  }
  if (operator || getObj.rawFilter) throw new Error('getUsers error: the filter is not supported');
  const path = `/users?offset=${startIndex - 1}&limit=${count}`;
  const { data, meta } = await call(baseEntity, 'GET', path, null, ctx);
  return { Resources: data.map(toScim), totalResults: meta.total };
};

scimgateway.createUser = async (baseEntity, userObj, ctx) => {
  const { data } = await call(baseEntity, 'POST', '/users', toTravel(userObj), ctx);
  // The gateway reads the user by this id for its answer.
  return { id: data.id };
};

scimgateway.modifyUser = async (baseEntity, id, attrObj, ctx) => {
  const changes = toTravel(attrObj);
  if (Object.keys(changes).length > 0) await call(baseEntity, 'PATCH', `/users/${id}`, changes, ctx);
  // Null, as in the gateway's own plugins: it reads the user for its answer.
  return null;
};

scimgateway.deleteUser = async (baseEntity, id, ctx) => {
  await call(baseEntity, 'PATCH', `/users/${id}`, { archived: true }, ctx);
  return null;
};

async function call(baseEntity, method, path, data, ctx) {
  const { body } = await helper.doRequest(baseEntity, method, path, data && { data }, ctx);
  return body;
}

/** The gateway hands over multi-valued attributes as objects by their type. */
function toTravel({ userName, active, name = {}, preferredLanguage, emails, phoneNumbers, addresses }) {
  const work = addresses?.work;
  const changes = {
    email: emails?.work?.value ?? userName,
    archived: active === undefined ? undefined : !active,
    firstName: name.givenName,
    lastName: name.familyName,
    lang: preferredLanguage?.slice(0, 2),
    phoneNumber: phoneNumbers?.mobile?.value,
    address: work && {
      streetAddress: work.streetAddress,
      city: work.locality,
      postalCode: work.postalCode,
      countryCode: work.country,
    },
  };
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

function toScim({ id, email, archived, firstName, lastName, lang, phoneNumber, address, createdAt }) {
  return {
    id,
    userName: email,
    active: !archived,
    name: { formatted: `${firstName} ${lastName}`, givenName: firstName, familyName: lastName },
    displayName: `${firstName} ${lastName}`,
    preferredLanguage: lang,
    emails: [{ type: 'work', primary: true, value: email }],
    phoneNumbers: phoneNumber ? [{ type: 'mobile', value: phoneNumber }] : undefined,
    addresses: address && [
      {
        type: 'work',
        streetAddress: address.streetAddress,
        locality: address.city,
        postalCode: address.postalCode,
        country: address.countryCode,
      },
    ],
    meta: { created: createdAt },
  };
}
