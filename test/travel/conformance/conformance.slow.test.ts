import { describeResource, otherResources } from './describe-resource.ts';

describe.each(otherResources)('$type', (resource) => describeResource(resource));
