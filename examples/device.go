// A Jobcast device in Go, over HTTP with long polling. Only the standard library; URL, DEVICE and TOKEN in the environment.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

var jobs = os.Getenv("URL") + "/things/" + os.Getenv("DEVICE") + "/jobs"

func call(method, path string, body, answer any) error {
	content, _ := json.Marshal(body)
	request, _ := http.NewRequest(method, jobs+path, bytes.NewReader(content))
	request.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		return fmt.Errorf("%s %s: %s", method, path, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

func main() {
	for {
		var next struct {
			Execution *struct {
				JobID, JobDocument string
				ExecutionNumber    int
			}
		}
		var ignored map[string]any
		err := call("PUT", "/$next", map[string]any{}, &next)
		if err == nil && next.Execution != nil {
			fmt.Println("working on", next.Execution.JobID, next.Execution.JobDocument)
			err = call("POST", "/"+next.Execution.JobID, map[string]any{"status": "SUCCEEDED",
				"executionNumber": next.Execution.ExecutionNumber, "statusDetails": map[string]string{"language": "go"}}, &ignored)
		} else if err == nil {
			err = call("GET", "?wait=30", nil, &ignored)
		}
		if err != nil {
			fmt.Println(err)
			time.Sleep(time.Second)
		}
	}
}
