import type { ProfileSettings, TravelProfile } from '../profile.ts';
import { genericRestProfile } from './generic-rest.ts';
import { jetbridgeProfile } from './jetbridge.ts';

/** The travel APIs that are known, by the setting `travelApi.profile`. */
export const profiles = {
  jetbridge: jetbridgeProfile,
  'generic-rest': genericRestProfile,
} satisfies { [name: string]: (settings: ProfileSettings) => TravelProfile };
