import { describeResource } from './describe-resource.ts';

describeResource('costCenter');
