-- `reported.NAME` also finds values that the owner's value of the same name hides from the bare name; `reported` is in the
-- index so that a name of one side is counted without a look at the table.
DROP INDEX device_attribute_by_value;
CREATE INDEX device_attribute_by_value ON device_attribute (owner_no, name, sort_key, device_no) INCLUDE (reported)
  WHERE NOT shadowed;
CREATE INDEX device_attribute_shadowed ON device_attribute (owner_no, name, sort_key, device_no) WHERE shadowed;
