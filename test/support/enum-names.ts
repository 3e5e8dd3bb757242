// Registers the short enum names before any test file decodes. Test files share a process, in which the protobuf
// library reads the names of an enum only once.
import { acceptShortEnumNames } from "../../src/http/enum-names.ts";
import { table } from "../../src/http/route.ts";
import { RecordSchema } from "../../src/gen/records/ingest/v1/import_pb.ts";

for (const { rpc } of table) acceptShortEnumNames(rpc.input);
acceptShortEnumNames(RecordSchema);
