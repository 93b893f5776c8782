import { describeResource } from './describe-resource.ts';

describeResource('scimUserMapping');
