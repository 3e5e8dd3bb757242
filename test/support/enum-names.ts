// Files of tests share a process, in which the protobuf library reads the names of an enum once: the short ones are
// there first, whichever file decodes first.
import { acceptShortEnumNames } from "../../src/http/enum-names.ts";
import { table } from "../../src/http/route.ts";
import { RecordSchema } from "../../src/gen/records/ingest/v1/import_pb.ts";

for (const { rpc } of table) acceptShortEnumNames(rpc.input);
acceptShortEnumNames(RecordSchema);
