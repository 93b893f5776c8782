import { describeResource } from './describe-resource.ts';

describeResource('projectCode');
